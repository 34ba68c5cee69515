-- Undo of the step "old-perm", first transaction: drops the index, between unbind.sql and rebind.sql,
-- which bind the foreign keys to the index of the primary key again.
-- Locks: those of lock.sql, which is sent before.

do <body>
declare
  parent constant regclass := <oid>::oid::regclass;
  old pg_index;
  primary_key name;
begin
  select i.* into old from pg_index i where i.indexrelid = to_regclass(<'beside_old_perm'>);
  select p.conname into primary_key from pg_constraint p
   where p.conrelid = parent and p.contype = 'p';
  if old.indisreplident and obj_description(old.indexrelid, 'pg_class') is null then
    execute format('alter table %s replica identity default', parent);
  elsif old.indisreplident then
    -- The comment is that of primary-key.sql.
    execute format('alter table %s replica identity using index %I', parent, primary_key);
  end if;
  if old.indisclustered then
    execute format('alter table %s cluster on %I', parent, primary_key);
  end if;
end <body>;

drop index if exists <beside_old_perm>;
