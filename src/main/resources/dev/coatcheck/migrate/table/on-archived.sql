-- Archives new rows as they are inserted, while an undo archives all keys before it drops them.
-- Locks: those of its inserts. Runs as our user and sees only Postgres's own names. Reads the legacy ID
-- by the name of its column or, if that was renamed, by its number: both branches do the same.

create or replace function <on_archived>() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as <body>
declare
  column_name name;
  ids bigint[];
  keys bigint[];
begin
  <only_of_run>
  <ids_if_renamed>
  if ids is null then
    insert into <archive> (legacy, key)
    select i.<id>, i.<key> from inserted i on conflict do nothing;
  else
    insert into <archive> (legacy, key)
    select i.id, i.key from unnest(ids, keys) as i (id, key) on conflict do nothing;
  end if;
  return null;
end <body>;
