-- Undo of the step "old-perm", first transaction: binds foreign keys to the index of the primary key
-- again, and drops the index that they were bound to. They are validated afterwards.
-- Locks: those of lock.sql, which is sent before.

do <body>
declare
  parent constant regclass := <oid>::oid::regclass;
  old record;
  bound record;
  statement text;
begin
  select to_regclass(<'beside_old_perm'>)::oid as index into strict old;

  -- A foreign key of a partitioned table can't be added without a scan: it is added to each of its
  -- partitions, and to the table itself once they are validated (merge.sql).
  insert into <schema>.foreign_key_to_merge (run, relation, name, definition, remark)
  select <run>, f.conrelid, f.conname, pg_get_constraintdef(f.oid),
         obj_description(f.oid, 'pg_constraint')
    from pg_constraint f join pg_class c on c.oid = f.conrelid
   where f.contype = 'f' and f.confrelid = <oid>::oid and f.conindid = old.index
     and f.conparentid = 0 and c.relkind = 'p'
  on conflict do nothing;

  select coalesce(array_agg(format('alter table %s drop constraint %I', f.conrelid::regclass,
                                   f.conname)) filter (where f.conparentid = 0), array[]::text[])
           as drops,
         coalesce(array_agg(format('alter table %s add constraint %I %s not valid',
                                   f.conrelid::regclass, f.conname, pg_get_constraintdef(f.oid))
                            order by f.oid) filter (where c.relkind = 'r'), array[]::text[]) as adds,
         coalesce(array_agg(format('comment on constraint %I on %s is %L', f.conname,
                                   f.conrelid::regclass, obj_description(f.oid, 'pg_constraint')))
                  filter (where c.relkind = 'r'), array[]::text[]) as remarks
    into bound
    from pg_constraint f join pg_class c on c.oid = f.conrelid
   where f.contype = 'f' and f.confrelid = <oid>::oid and f.conindid = old.index;

  foreach statement in array bound.drops loop
    execute statement;
  end loop;
  if exists (select from pg_index where indexrelid = old.index and indisreplident) then
    execute format('alter table %s replica identity default', parent);
  end if;
  if exists (select from pg_index where indexrelid = old.index and indisclustered) then
    execute format('alter table %s cluster on %I', parent,
                   (select conname from pg_constraint where conrelid = parent and contype = 'p'));
  end if;
  drop index if exists <beside_old_perm>;
  foreach statement in array bound.adds || bound.remarks loop
    execute statement;
  end loop;
end <body>;
