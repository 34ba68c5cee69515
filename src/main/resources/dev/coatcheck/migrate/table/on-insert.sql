-- Fills the key of a new row. A legacy ID that was used before gets its earlier key. A value from the
-- application is replaced, because "insert … select *" copies keys.
-- Locks: those of number-source.sql. Runs as our user and sees only Postgres's own names. Reads the
-- legacy ID by the name of its column or, if that was renamed, by its number.

create or replace function <on_insert>() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as <body>
declare
  column_name name;
  id bigint;
begin
  <only_of_run>
  begin
    id := new.<id>;
  exception when undefined_column then
    column_name := <id_column>;
    if column_name is not null then
      execute format('select ($1).%I', column_name) into id using new;
    end if;
  end;
  new.<key> := coalesce((select a.key from <archive> a where a.legacy = id), <mint>());
  return new;
end <body>;
