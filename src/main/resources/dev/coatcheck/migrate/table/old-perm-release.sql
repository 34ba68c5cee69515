-- Undo of the step "old-perm", first transaction: drops the index, between unbind.sql and rebind.sql,
-- which bind the foreign keys to the index of the primary key again.
-- Locks: those of lock.sql, which is sent before.

do <body>
declare
  parent constant regclass := <oid>::oid::regclass;
  old pg_index;
begin
  select i.* into old from pg_index i where i.indexrelid = to_regclass(<'beside_old_perm'>);
  if old.indisreplident then
    execute format('alter table %s replica identity default', parent);
  end if;
  if old.indisclustered then
    execute format('alter table %s cluster on %I', parent,
                   (select conname from pg_constraint where conrelid = parent and contype = 'p'));
  end if;
end <body>;

drop index if exists <beside_old_perm>;
