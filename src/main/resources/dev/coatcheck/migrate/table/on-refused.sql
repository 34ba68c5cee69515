-- Refuses statements that would lose keys: truncate, and an update of the legacy ID.
-- Locks: none. Runs as our user and sees only Postgres's own names.

create or replace function <on_refused>() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as <body>
begin
  raise exception 'coatcheck: % of the key is refused while the table migrates', tg_op
    using errcode = 'object_not_in_prerequisite_state',
          hint = 'Undo the table migration first, or delete the rows.';
end <body>;
