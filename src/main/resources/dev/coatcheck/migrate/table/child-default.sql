-- Gives the twin of a child's column the key of the row that the default of the column refers to, in the
-- child and in each of its partitions: a row without either value, and a foreign key with "set default",
-- mean the same row by both columns. A default that is not a constant would run as our user, so the twin
-- gets none, and a foreign key that sets it is refused where <refuses_expressions>.
-- Locks: the relations whose default changes in access exclusive mode until the commit, if lock.sql, which
-- is sent before, has not locked them.

do <body>
declare
  constants constant text := <constant_default>;
  one record;
  twin_default bigint;
  wanted bigint;
begin
  for one in
    select l.oid::regclass as relation, pg_get_expr(d.adbin, d.adrelid) as old,
           pg_get_expr(n.adbin, n.adrelid) as new,
           exists (select from pg_constraint f
                    where f.contype = 'f' and f.conrelid = l.oid and f.confrelid = <oid>::oid
                      and f.conkey = array[a.attnum]
                      and 'd' in (f.confdeltype, f.confupdtype)) as is_set_by_key
      from (select <child_oid>::oid as oid
            union
            select relid from pg_partition_tree(<child_oid>::oid::regclass)) as l
      join pg_class c on c.oid = l.oid and c.relkind in ('r', 'p')
      join pg_attribute r on r.attrelid = <child_oid>::oid and r.attnum = <child_attnum>::int2
       and not r.attisdropped
      join pg_attribute a on a.attrelid = l.oid and a.attname = r.attname
      join pg_attribute t on t.attrelid = l.oid and t.attname = <'ref_name'>
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      left join pg_attrdef n on n.adrelid = t.attrelid and n.adnum = t.attnum
     order by l.oid
  loop
    wanted := null;
    if one.old ~ constants then
      execute format('select t.<key> from %s t where t.%I = $1', <oid>::oid::regclass,
                     (select a.attname from pg_attribute a
                       where a.attrelid = <oid>::oid and a.attnum = <key_attnum>::int2))
        into wanted
        using trim(both '''()' from split_part(one.old, '::', 1))::bigint;
    elsif one.old !~ <null_default> then
      if one.is_set_by_key and <refuses_expressions> then
        raise exception 'the default of % is not a constant: %', <'child_label'>, one.old
          using errcode = '<step_refused>',
                hint = 'The foreign key sets it. Give the column a constant as its default.';
      end if;
      continue;
    end if;
    continue when one.new !~ constants;
    twin_default := trim(both '''()' from split_part(one.new, '::', 1))::bigint;
    if wanted is null and twin_default is not null then
      execute format('alter table only %s alter column %I drop default', one.relation,
                     <'ref_name'>);
    elsif wanted is distinct from twin_default then
      execute format('alter table only %s alter column %I set default %L', one.relation,
                     <'ref_name'>, wanted);
    end if;
  end loop;
end <body>;
