-- The preconditions of the switch for the table, checked under its lock.
-- Locks: none of its own.

do <body>
declare
  found text;
begin
  select string_agg(wanted.name, ', ') into found
    from unnest(array[<trigger_names>]) as wanted (name)
   where coalesce((select g.tgenabled <> 'A' from pg_trigger g
                    where g.tgrelid = <oid>::oid and g.tgname = wanted.name), <must_be_there>);
  if found is not null then
    raise exception 'triggers of the run are missing or disabled: %', found
      using errcode = '<step_refused>', hint = 'Enable them with enable always trigger.';
  end if;

  select string_agg(format('%I of %s', f.conname, f.conrelid::regclass), ', ') into found
    from pg_constraint f
   where f.contype = 'f' and f.confrelid = <oid>::oid and not f.convalidated;
  if found is not null then
    raise exception 'foreign keys are not validated: %', found
      using errcode = '<step_refused>', hint = 'Validate them.';
  end if;

  select string_agg(t.names, ', ') into found
    from (select string_agg(format('%I of %s', f.conname, c.oid::regclass), ', ' order by f.oid)
                   filter (where f.confkey = array[<key_attnum>::int2]) as names
            from pg_constraint f
            join pg_class c on c.oid = f.conrelid and c.relkind = 'r'
            join pg_attribute a on a.attrelid = f.confrelid and a.attname = <'key'>
           where f.contype = 'f' and f.confrelid = <oid>::oid
           group by c.oid
          having count(distinct f.conkey) filter (where f.confkey = array[<key_attnum>::int2])
               > count(distinct f.conkey) filter (where f.confkey = array[a.attnum])) as t;
  if <must_be_there> and found is not null then
    raise exception 'one of these foreign keys has no twin: %', found
      using errcode = '<step_refused>', hint = 'Retry gives it one.';
  end if;

  select string_agg(distinct coalesce(r.ev_class::regclass::text,
                                      pg_describe_object(d.classid, d.objid, d.objsubid)), ', ')
    into found
    from pg_constraint p
    join pg_depend d on d.refclassid = 'pg_constraint'::regclass and d.refobjid = p.oid
    left join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
   where p.conrelid = <oid>::oid and p.contype = 'p' and d.deptype = 'n'
     and d.classid <> 'pg_constraint'::regclass;
  if found is not null then
    raise exception 'these depend on the primary key itself: %', found
      using errcode = '<step_refused>', hint = 'They group by it; group by more columns.';
  end if;

  if not exists (select from pg_index i
                  where i.indexrelid = to_regclass(<'beside_spare'>) and i.indrelid = <oid>::oid
                    and i.indisunique and i.indisvalid and i.indisready) then
    raise exception 'the index for the primary key is missing or invalid: %', <'beside_spare'>
      using errcode = '<step_refused>', hint = 'Retry builds it.';
  end if;
  if not exists (select from pg_index i
                  where i.indexrelid = to_regclass(<'beside_stays'>) and i.indrelid = <oid>::oid
                    and i.indisunique and i.indisvalid and i.indisready) then
    raise exception 'the index for the column that the primary key leaves is missing or invalid: %',
      <'beside_stays'> using errcode = '<step_refused>', hint = 'Retry builds it.';
  end if;
end <body>;
