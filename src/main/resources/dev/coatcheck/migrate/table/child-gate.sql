-- The preconditions of the switch for a child, checked under the lock of the customer's table: the
-- triggers that keep both columns in step and, on the way forward, the foreign key of the twin and its
-- index.
-- Locks: none on the child.

do <body>
declare
  found text;
begin
  select string_agg(wanted.name, ', ') into found
    from unnest(array[<'t_ref'>, <'t_ref_late'>]) as wanted (name)
   where coalesce((select g.tgenabled <> 'A' from pg_trigger g
                    where g.tgrelid = <child_oid>::oid and quote_ident(g.tgname) = wanted.name),
                  <must_be_there>);
  if found is not null then
    raise exception 'triggers of the run are missing or disabled on %: %', <'child_label'>, found
      using errcode = '<step_refused>', hint = 'Enable them with enable always trigger.';
  end if;

  -- Those of partitions are looked at with all others, in primary-key.sql.
  if <must_be_there>
    and (select c.relkind from pg_class c where c.oid = <child_oid>::oid) = 'r' and not exists (
    select from pg_constraint f where f.conrelid = <child_oid>::oid and f.confrelid = <oid>::oid
       and f.conname = <'ref_key_name'> and f.contype = 'f' and f.convalidated) then
    raise exception 'the foreign key % of % is missing or not validated', <'ref_key_name'>,
      <'child_label'> using errcode = '<step_refused>',
      hint = 'Undo from children on and resume makes it anew.';
  end if;

  if <must_be_there> and not exists (
    select from pg_index i where i.indexrelid = to_regclass(<'beside_leaf_index'>)
       and i.indrelid = <child_oid>::oid and i.indisvalid and i.indisready) then
    raise exception 'the index % of % is missing or invalid', <'beside_leaf_index'>,
      <'child_label'> using errcode = '<step_refused>',
      hint = 'Retry builds it.';
  end if;
end <body>;
