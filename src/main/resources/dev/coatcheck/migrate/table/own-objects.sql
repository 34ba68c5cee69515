-- Which objects of a run are missing, in words, in the order of their creation.
-- Locks: none.

select o.what from (values
  (1, 'the schema <schema>', pg_catalog.to_regnamespace('<schema>') is not null),
  (2, 'the table <schema>.checkpoint',
   pg_catalog.to_regclass('<schema>.checkpoint') is not null),
  (3, 'the table ' || <'archive'>, pg_catalog.to_regclass(<'archive'>) is not null),
  (4, 'the table ' || <'outbox_a'>, pg_catalog.to_regclass(<'outbox_a'>) is not null),
  (5, 'the table ' || <'outbox_b'>, pg_catalog.to_regclass(<'outbox_b'>) is not null),
  (6, 'the sequence ' || <'switch'>, pg_catalog.to_regclass(<'switch'>) is not null),
  (7, 'the sequence ' || <'mint_seq'>, pg_catalog.to_regclass(<'mint_seq'>) is not null),
  (8, 'the function ' || <'mint'> || '()',
   pg_catalog.to_regprocedure(<'mint'> || '()') is not null),
  (9, 'the table <schema>.set_aside',
   pg_catalog.to_regclass('<schema>.set_aside') is not null),
  (10, 'the table <schema>.unbound_foreign_key',
   pg_catalog.to_regclass('<schema>.unbound_foreign_key') is not null)) as o (n, what, is_there)
 where not o.is_there order by o.n;
