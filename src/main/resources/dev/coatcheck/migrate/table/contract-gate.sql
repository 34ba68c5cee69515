-- The preconditions for dropping a column of legacy IDs, checked under the lock: the new keys are the
-- primary key of the table, and nothing else uses the column.
-- Locks: none of its own.

do <body>
declare
  found text;
begin
  if not (<is_switched>) then
    raise exception 'the new keys are not the primary key'
      using errcode = '<step_refused>', hint = 'Undo from contract on, then switch.';
  end if;
  select string_agg(q.what, ', ') into found from (<dependents>) as q;
  if found is not null then
    raise exception 'these use the column % of %: %', <column_name>,
      <relation>::oid::regclass, found
      using errcode = '<step_refused>',
            hint = format('Let them use %s, or drop them; then retry.', <twin>);
  end if;
end <body>;
