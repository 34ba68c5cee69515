-- Undo of the step "old-perm", first transaction: binds foreign keys to the index of the primary key
-- again, and drops the index that they were bound to. They are validated afterwards.
-- Locks: those of lock.sql, which is sent before.

do <body>
declare
  parent constant regclass := <oid>::oid::regclass;
  index constant oid := to_regclass(<'beside_old_perm'>);
  key name := (select conname from pg_constraint
                where conrelid = <oid>::oid and contype = 'p');
  bound record;
  statement text;
begin
  select coalesce(array_agg(format('alter table %s drop constraint %I', f.conrelid::regclass,
                                   f.conname)), array[]::text[]) as drops,
         coalesce(array_agg(format('alter table %s add constraint %I %s not valid',
                                   f.conrelid::regclass, f.conname, pg_get_constraintdef(f.oid))
                            order by f.oid), array[]::text[]) as adds,
         coalesce(array_agg(format('comment on constraint %I on %s is %L', f.conname,
                                   f.conrelid::regclass, obj_description(f.oid, 'pg_constraint'))),
                  array[]::text[]) as remarks
    into bound
    from pg_constraint f
   where f.contype = 'f' and f.confrelid = <oid>::oid and f.conindid = index;

  if exists (select from pg_index where indexrelid = index and indisreplident) then
    execute format('alter table %s replica identity default', parent);
  end if;
  if exists (select from pg_index where indexrelid = index and indisclustered) then
    execute format('alter table %s cluster on %I', parent, key);
  end if;
  foreach statement in array bound.drops loop
    execute statement;
  end loop;
  drop index if exists <beside_old_perm>;
  foreach statement in array bound.adds || bound.remarks loop
    execute statement;
  end loop;
end <body>;
