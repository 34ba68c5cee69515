-- Gives rows back the keys that their legacy IDs had, which fires the table's own triggers and checks
-- inside the application's transaction: so with the search path that the plan took for the
-- application's, and as the table's owner. The path of the session itself would let a writer put a
-- temporary table in front of the owner's, with a trigger that then runs as the owner. Everything
-- else here is qualified. That it was told to look is a hint, which anybody may give: it looks for
-- itself.
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
