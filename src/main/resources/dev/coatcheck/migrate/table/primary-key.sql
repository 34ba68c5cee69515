-- Moves the primary key to another column, whose unique index becomes the index of the primary key. The
-- foreign keys that are bound to the old index are dropped before (unbind.sql) and added afterwards
-- (rebind.sql); no further switch or undo touches the index that they are then bound to.
-- Locks: those of lock.sql, which is sent before. Nothing is scanned.

do <body>
declare
  parent constant regclass := <oid>::oid::regclass;
  old record;
begin
  select p.conname as name, obj_description(p.oid, 'pg_constraint') as remark,
         obj_description(p.conindid, 'pg_class') as index_remark,
         i.indisclustered as is_clustered, i.indisreplident as is_chosen_identity,
         i.indisreplident
           or c.relreplident = 'd' and exists (
             select from pg_publication_tables t join pg_namespace n on n.nspname = t.schemaname
              where n.oid = c.relnamespace and t.tablename = c.relname) as is_identity
    into strict old
    from pg_constraint p
    join pg_index i on i.indexrelid = p.conindid
    join pg_class c on c.oid = p.conrelid
   where p.conrelid = <oid>::oid and p.contype = 'p';

  execute format('alter table %s drop constraint %I', parent, old.name);
  execute format('alter table %s add constraint %I primary key using index %s', parent, old.name,
                 <'spare'>);
  if old.remark is not null then
    execute format('comment on constraint %I on %s is %L', old.name, parent, old.remark);
  end if;
  if old.index_remark is not null then
    execute format('comment on index %s is %L', (
      select p.conindid::regclass from pg_constraint p
       where p.conrelid = <oid>::oid and p.contype = 'p'), old.index_remark);
  end if;
  if old.is_clustered then
    execute format('alter table %s cluster on %s', parent, <'stays'>);
  end if;
  if old.is_identity then
    execute format('alter table %s replica identity using index %s', parent, <'stays'>);
  end if;
  if old.is_chosen_identity then
    -- Read by old-perm-release.sql.
    comment on index <beside_stays> is 'The replica identity was the index of the primary key.';
  end if;
end <body>;
