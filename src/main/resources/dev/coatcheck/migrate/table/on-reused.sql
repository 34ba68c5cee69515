-- Gives rows back the keys that their legacy IDs had. This fires the table's own triggers and checks
-- inside the application's transaction, so it runs as the table's owner, with the search path that the
-- plan found for the application. With the path of the session, a writer could put a temporary table in
-- front of the owner's, with a trigger that then runs as the owner. All other names here are qualified.
-- The call is only a hint, which any role may give, so the function checks by itself.
-- Locks: those of its update, on rows that the same transaction has just inserted.

create or replace function <on_reused>() returns trigger
  language plpgsql security definer set search_path = <application_path>, pg_temp as <body>
begin
  if pg_catalog.current_setting('coatcheck.reused', true) operator(pg_catalog.=) <run> then
    perform pg_catalog.set_config('coatcheck.reused', '', true);
    perform pg_catalog.set_config('coatcheck.fill', <run>, true);
    execute pg_catalog.format(
      'update %1$s t set <key> = a.key'
      ' from inserted i join %3$s a on a.legacy operator(pg_catalog.=) i.%2$I'
      ' where t.%2$I operator(pg_catalog.=) i.%2$I'
      ' and t.<key> operator(pg_catalog.<>) a.key',
      tg_relid::pg_catalog.regclass,
      (select a.attname from pg_catalog.pg_attribute a
        where a.attrelid operator(pg_catalog.=) tg_relid
          and a.attnum operator(pg_catalog.=) <key_attnum>::pg_catalog.int2),
      <'archive'>);
    perform pg_catalog.set_config('coatcheck.fill', '', true);
  end if;
  return null;
end <body>;
