-- Archives the key of a deleted row, so that its legacy ID gets the same key again.
-- Locks: those of its insert. Runs as our user and sees only Postgres's own names. Reads the legacy ID by
-- the name of its column or, if that was renamed, by its number.

create or replace function <on_delete>() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as <body>
declare
  column_name name;
  id bigint;
begin
  <only_of_run>
  begin
    id := old.<id>;
  exception when undefined_column then
    column_name := <id_column>;
    if column_name is null then
      return old;
    end if;
    execute format('select ($1).%I', column_name) into id using old;
  end;
  if old.<key> is not null then
    insert into <archive> (legacy, key) values (id, old.<key>)
      on conflict do nothing;
  end if;
  return old;
end <body>;
