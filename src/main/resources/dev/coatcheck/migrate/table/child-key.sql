-- Step "child-key": the foreign key of the twin to the new keys, with the rules of the old one, for new
-- and changed rows. In a partitioned child, each partition whose column has a foreign key gets one.
-- Locks: those of lock.sql, which is sent before: the child, its partitions and the customer's table in share
-- row exclusive mode until the commit, without a scan.

do <body>
declare
  leaf record;
  is_found boolean := false;
  old pg_constraint;
  rules text[] := array['a', 'no action', 'r', 'restrict', 'c', 'cascade', 'n', 'set null',
                        'd', 'set default'];
begin
  for leaf in
    select l.oid::regclass as relation, a.attnum as fk, t.attnum as twin
      from (select <child_oid>::oid as oid
            union
            select relid from pg_partition_tree(<child_oid>::oid::regclass)) as l
      join pg_class c on c.oid = l.oid and c.relkind = 'r'
      join pg_attribute r on r.attrelid = <child_oid>::oid and r.attnum = <child_attnum>::int2
      join pg_attribute a on a.attrelid = l.oid and a.attname = r.attname
      join pg_attribute t on t.attrelid = l.oid and t.attname = <'ref_name'>
     order by l.oid
  loop
    select f.* into old from pg_constraint f
     where f.contype = 'f' and f.conrelid = leaf.relation and f.confrelid = <oid>::oid
       and f.conkey = array[leaf.fk] and f.confkey = array[<key_attnum>::int2]
     order by f.oid limit 1;
    continue when old.oid is null;
    is_found := true;
    -- Sent again for the sake of partitions that came later.
    continue when exists (select from pg_constraint f
                           where f.contype = 'f' and f.conrelid = leaf.relation
                             and f.confrelid = <oid>::oid and f.conkey = array[leaf.twin]);
    execute format(
      'alter table %s add constraint %I foreign key (%I) references %s (<key>)'
      ' on delete %s on update %s%s%s not valid',
      leaf.relation, <'ref_key_name'>, <'ref_name'>, <oid>::oid::regclass,
      rules[array_position(rules, old.confdeltype::text) + 1],
      rules[array_position(rules, old.confupdtype::text) + 1],
      case when old.condeferrable then ' deferrable' else '' end,
      case when old.condeferred then ' initially deferred' else '' end);
  end loop;
  if not is_found then
    raise exception 'the foreign key of % is gone', <'child_label'> using errcode = '<step_refused>';
  end if;

  -- A partitioned table whose foreign key is its own gets one itself, once its partitions have it.
  insert into <schema>.unbound_foreign_key (run, n, relation, name, definition)
  select <run>, 0, c.oid, <'ref_key_name'>,
         (select replace(pg_get_constraintdef(g.oid), ' NOT VALID', '') from pg_constraint g
           where g.conname = <'ref_key_name'> and g.confrelid = <oid>::oid limit 1)
    from pg_constraint f join pg_class c on c.oid = f.conrelid
   where f.contype = 'f' and f.conrelid = <child_oid>::oid and f.confrelid = <oid>::oid
     and f.confkey = array[<key_attnum>::int2] and c.relkind = 'p'
     and not exists (select from pg_constraint g
                      where g.conname = <'ref_key_name'> and g.conrelid = <child_oid>::oid)
     and exists (select from pg_constraint g
                  where g.conname = <'ref_key_name'> and g.confrelid = <oid>::oid)
  on conflict do nothing;
end <body>;
