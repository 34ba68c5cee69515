-- Restores the key of a row when the application changes it, instead of raising an error, because "do
-- update set … = excluded.…" is common.
-- Locks: none. Runs as our user and sees only Postgres's own names.

create or replace function <on_update>() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as <body>
begin
  <only_of_run>
  new.<key> := old.<key>;
  return new;
end <body>;
