-- The functions of the triggers that remain: the number source and the outbox, without legacy IDs. A row
-- may contain its key, for example when it is restored. If the column of the keys was renamed, it is
-- found as the column of the trigger on updates, whatever the primary key is by then.
-- Locks: those of their inserts. They run as our user and see only Postgres's own names.

create or replace function <on_insert>() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as <body>
declare
  column_name name;
  key bigint;
begin
  <only_of_run>
  begin
    new.<key> := coalesce(new.<key>, <mint>());
  exception when undefined_column then
    column_name := <key_column>;
    execute format('select ($1).%I', column_name) into key using new;
    if key is null then
      new := jsonb_populate_record(new, jsonb_build_object(column_name, <mint>()));
    end if;
  end;
  return new;
end <body>;

create or replace function <on_inserted>() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as <body>
declare
  keys bigint[];
begin
  <only_of_run>
  begin
    select array_agg(i.<key>) into keys from inserted i;
  exception when undefined_column then
    execute format('select array_agg(i.%I) from inserted i', <key_column>) into keys;
  end;
  if (select last_value from <switch>) % 2 = 0 then
    insert into <outbox_a> (legacy, key) select null, k from unnest(keys) as k;
  else
    insert into <outbox_b> (legacy, key) select null, k from unnest(keys) as k;
  end if;
  return null;
end <body>;

create or replace function <on_update>() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as <body>
declare
  column_name name;
  key bigint;
begin
  <only_of_run>
  begin
    new.<key> := old.<key>;
  exception when undefined_column then
    column_name := <key_column>;
    execute format('select ($1).%I', column_name) into key using old;
    new := jsonb_populate_record(new, jsonb_build_object(column_name, key));
  end;
  return new;
end <body>;
