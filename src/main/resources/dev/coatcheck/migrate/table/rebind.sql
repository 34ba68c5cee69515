-- Adds the foreign keys that unbind.sql has dropped, not validated. Each is bound to the oldest existing
-- index on its column. On a partitioned table that would cause a scan, so such a foreign key is added to
-- the partitions only, and to the table itself after they are validated (merge.sql).
-- Locks: those of lock.sql, which is sent before; nothing is scanned.

do <body>
declare
  one record;
begin
  for one in
    select u.relation, u.name, u.definition, u.remark
      from <schema>.unbound_foreign_key u join pg_class c on c.oid = u.relation
     where u.run = <run> and c.relkind = 'r'
     order by u.n
  loop
    execute format('alter table %s add constraint %I %s not valid', one.relation, one.name,
                   one.definition);
    execute format('comment on constraint %I on %s is %L', one.name, one.relation, one.remark);
    delete from <schema>.unbound_foreign_key
     where run = <run> and relation = one.relation and name = one.name;
  end loop;
end <body>;
