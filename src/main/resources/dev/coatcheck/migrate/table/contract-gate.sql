-- The preconditions for dropping a column of legacy IDs, checked under the lock: the new keys are the
-- primary key of the table, the triggers kept the column in step up to now, in every partition, and
-- nothing else uses it.
-- Locks: none of its own.

do <body>
declare
  found text;
begin
  if not (<is_switched>) then
    raise exception 'the new keys are not the primary key'
      using errcode = '<step_refused>', hint = 'Undo from contract on, then switch.';
  end if;
  select string_agg(wanted.name, ', ') into found
    from unnest(array[<triggers>]) as wanted (name)
   where coalesce((select bool_or(g.tgenabled <> 'A') from pg_trigger g
                    where quote_ident(g.tgname) = wanted.name
                      and (g.tgrelid = <relation>::oid
                           or g.tgrelid in (select t.relid
                                from pg_partition_tree(<relation>::oid::regclass) as t))),
                  true);
  if found is not null then
    raise exception 'triggers of the run are missing or disabled on %: %',
      <relation>::oid::regclass, found
      using errcode = '<step_refused>',
            hint = 'Enable them with enable always trigger, then retry, which verifies again.';
  end if;
  select string_agg(q.what, ', ') into found from (<dependents>) as q;
  if found is not null then
    raise exception 'these use the column % of %: %', <column_name>,
      <relation>::oid::regclass, found
      using errcode = '<step_refused>',
            hint = format('Let them use %s, or drop them; then retry.', <twin>);
  end if;
end <body>;
