-- Writes inserted rows to the outbox, once per row: before the insert, ON CONFLICT could write several
-- entries. If a legacy ID was freed by a delete that was not committed when the row was inserted, its old
-- key becomes visible only now, and on-reused.sql is called. An older snapshot never sees it. So a
-- transaction with such a snapshot archives what it inserts, which fails and has to be retried if there
-- is a key that it can't see.
-- Locks: those of its inserts. Runs as our user and sees only Postgres's own names. Reads the legacy ID
-- by the name of its column or, if that was renamed, by its number: both branches do the same.

create or replace function <on_inserted>() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as <body>
declare
  column_name name;
  ids bigint[];
  keys bigint[];
begin
  <only_of_run>
  <ids_if_renamed>
  if ids is null then
    if current_setting('transaction_isolation') <> 'read committed' then
      insert into <archive> (legacy, key)
      select i.<id>, i.<key> from inserted i on conflict do nothing;
    end if;
    perform set_config('coatcheck.reused', <run>, true)
       from inserted i join <archive> a on a.legacy = i.<id> where a.key <> i.<key> limit 1;
    if (select last_value from <switch>) % 2 = 0 then
      insert into <outbox_a> (legacy, key)
      select i.<id>, coalesce(a.key, i.<key>)
        from inserted i left join <archive> a on a.legacy = i.<id>;
    else
      insert into <outbox_b> (legacy, key)
      select i.<id>, coalesce(a.key, i.<key>)
        from inserted i left join <archive> a on a.legacy = i.<id>;
    end if;
  else
    if current_setting('transaction_isolation') <> 'read committed' then
      insert into <archive> (legacy, key)
      select i.id, i.key from unnest(ids, keys) as i (id, key) on conflict do nothing;
    end if;
    perform set_config('coatcheck.reused', <run>, true)
       from unnest(ids, keys) as i (id, key)
       join <archive> a on a.legacy = i.id where a.key <> i.key limit 1;
    if (select last_value from <switch>) % 2 = 0 then
      insert into <outbox_a> (legacy, key)
      select i.id, coalesce(a.key, i.key)
        from unnest(ids, keys) as i (id, key) left join <archive> a on a.legacy = i.id;
    else
      insert into <outbox_b> (legacy, key)
      select i.id, coalesce(a.key, i.key)
        from unnest(ids, keys) as i (id, key) left join <archive> a on a.legacy = i.id;
    end if;
  end if;
  return null;
end <body>;
