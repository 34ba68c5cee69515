-- Drops the foreign keys that are bound to an index, and stores them for rebind.sql and merge.sql, which
-- add them again. A foreign key of a partitioned table is also stored for each of its partitions.
-- Locks: those of lock.sql, which is sent before.

insert into <schema>.unbound_foreign_key (run, n, relation, name, definition, remark)
select <run>, row_number() over (order by f.oid), f.conrelid, f.conname,
       replace(pg_get_constraintdef(f.oid), ' NOT VALID', ''),
       obj_description(f.oid, 'pg_constraint')
  from pg_constraint f join pg_class c on c.oid = f.conrelid
 where f.contype = 'f' and f.confrelid = <oid>::oid and f.conindid = <bound_index>
   and (c.relkind = 'r' or f.conparentid = 0)
on conflict do nothing;

do <body>
declare
  statement text;
begin
  for statement in
    select format('alter table %s drop constraint %I', f.conrelid::regclass, f.conname)
      from pg_constraint f
     where f.contype = 'f' and f.confrelid = <oid>::oid and f.conindid = <bound_index>
       and f.conparentid = 0
     order by f.oid
  loop
    execute statement;
  end loop;
end <body>;
