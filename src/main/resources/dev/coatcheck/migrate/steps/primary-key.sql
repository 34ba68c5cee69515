-- Moves the primary key to another column, whose unique index becomes the index of the primary key.
-- Foreign keys that are bound to the index of the old primary key are dropped and added again with
-- the same rules, not validated: they are bound to the oldest index on their column from then on,
-- which no further switch or undo touches. What the switch needs is looked at under the lock.
-- Locks: those of lock.sql, which is sent before. Nothing is scanned.

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

  select string_agg(distinct format('%I of %s', f.conname, f.conrelid::regclass), ', ') into found
    from pg_constraint f join pg_class c on c.oid = f.conrelid
   where f.contype = 'f' and f.confrelid = <oid>::oid and f.confkey = array[<key_attnum>::int2]
     and c.relkind = 'r' and not exists (
       select from pg_constraint g
         join pg_attribute a on a.attrelid = g.confrelid and a.attname = <'key'>
        where g.contype = 'f' and g.conrelid = f.conrelid and g.confrelid = f.confrelid
          and g.confkey = array[a.attnum]);
  if <must_be_there> and found is not null then
    raise exception 'foreign keys have no twin: %', found
      using errcode = '<step_refused>', hint = 'Undo the phase children, then switch again.';
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

do <body>
declare
  parent constant regclass := <oid>::oid::regclass;
  old record;
  bound record;
  statement text;
begin
  select p.conname as name, p.conindid as index, obj_description(p.oid, 'pg_constraint') as remark,
         i.indisclustered as is_clustered,
         i.indisreplident
           or c.relreplident = 'd' and exists (
             select from pg_publication_tables t join pg_namespace n on n.nspname = t.schemaname
              where n.oid = c.relnamespace and t.tablename = c.relname) as is_identity
    into strict old
    from pg_constraint p
    join pg_index i on i.indexrelid = p.conindid
    join pg_class c on c.oid = p.conrelid
   where p.conrelid = <oid>::oid and p.contype = 'p';

  -- A foreign key of a partitioned table can't be added without a scan: it is added to each of its
  -- partitions, and to the table itself once they are validated (merge.sql).
  insert into <schema>.foreign_key_to_merge (run, relation, name, definition, remark)
  select <run>, f.conrelid, f.conname, pg_get_constraintdef(f.oid),
         obj_description(f.oid, 'pg_constraint')
    from pg_constraint f join pg_class c on c.oid = f.conrelid
   where f.contype = 'f' and f.confrelid = <oid>::oid and f.conindid = old.index
     and f.conparentid = 0 and c.relkind = 'p'
  on conflict do nothing;

  select coalesce(array_agg(format('alter table %s drop constraint %I', f.conrelid::regclass,
                                   f.conname)) filter (where f.conparentid = 0), array[]::text[])
           as drops,
         coalesce(array_agg(format('alter table %s add constraint %I %s not valid',
                                   f.conrelid::regclass, f.conname, pg_get_constraintdef(f.oid))
                            order by f.oid) filter (where c.relkind = 'r'), array[]::text[]) as adds,
         coalesce(array_agg(format('comment on constraint %I on %s is %L', f.conname,
                                   f.conrelid::regclass, obj_description(f.oid, 'pg_constraint')))
                  filter (where c.relkind = 'r'), array[]::text[]) as remarks
    into bound
    from pg_constraint f join pg_class c on c.oid = f.conrelid
   where f.contype = 'f' and f.confrelid = <oid>::oid and f.conindid = old.index;

  foreach statement in array bound.drops loop
    execute statement;
  end loop;
  execute format('alter table %s drop constraint %I', parent, old.name);
  execute format('alter table %s add constraint %I primary key using index %s', parent, old.name,
                 <'spare'>);
  foreach statement in array bound.adds || bound.remarks loop
    execute statement;
  end loop;

  if old.remark is not null then
    execute format('comment on constraint %I on %s is %L', old.name, parent, old.remark);
  end if;
  if old.is_clustered then
    execute format('alter table %s cluster on %s', parent, <'stays'>);
  end if;
  if old.is_identity then
    execute format('alter table %s replica identity using index %s', parent, <'stays'>);
  end if;
end <body>;
