-- The last precondition for dropping the columns, checked under the lock: since the archive was compared
-- with the table, no trigger was off for a while. A partition that was detached has lost its clones.
-- Locks: none of its own.

do <body>
declare
  remembered constant text := current_setting('coatcheck.triggers', true);
  found text;
begin
  if coalesce(remembered, '') = '' then
    raise exception 'the archive was not compared with the table in this session'
      using errcode = '<step_refused>', hint = 'Retry does so.';
  end if;
  select string_agg(r.name, ', ') into found
    from jsonb_to_recordset(remembered::jsonb)
           as r (trigger_oid oid, version text, is_clone boolean, name text)
    left join pg_trigger g on g.oid = r.trigger_oid
   where g.xmin::text is distinct from r.version and (g.oid is not null or not r.is_clone);
  if found is not null then
    raise exception 'triggers of the run were disabled or changed for a while: %', found
      using errcode = '<step_refused>',
            hint = 'Find out what did that, then retry, which verifies again and compares the'
                   ' archive again.';
  end if;
end <body>;
