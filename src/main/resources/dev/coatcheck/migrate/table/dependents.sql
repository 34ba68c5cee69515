-- What would prevent a column from being dropped, or would be dropped with it, in words: objects that
-- depend on the column or on a sequence that goes with it, indexes, statistics, checks and foreign keys
-- that Postgres drops silently, and tables that share the column by inheritance. An index counts only if
-- the new column has none that forbids as much, a check of a child's column alone only if the new column
-- has no equivalent one, and its default only if the run doesn't give the twin one. Partitions may have
-- objects of their own.
-- Locks: partitions in access share mode until the end of the transaction.

with part as (
  select l.oid as relation, a.attnum, a.attname, a.attidentity, l.oid <> <relation>::oid as is_partition,
         <relation>::oid = <oid>::oid and <attnum>::int2 = <key_attnum>::int2 as is_key
    from (select <relation>::oid as oid
          union
          select t.relid from pg_partition_tree(<relation>::oid::regclass) as t) as l
    join pg_attribute r on r.attrelid = <relation>::oid and r.attnum = <attnum>::int2
    join pg_attribute a on a.attrelid = l.oid and a.attname = r.attname),
gone as ( -- a sequence has the column 0
  select p.relation, p.attnum from part p
  union
  select s.oid, 0
    from part p
    join pg_depend d on d.refclassid = 'pg_class'::regclass and d.refobjid = p.relation
     and d.refobjsubid = p.attnum and d.classid = 'pg_class'::regclass
    join pg_class s on s.oid = d.objid and s.relkind = 'S'),
exclusion as (
  select k.conindid as index, c.relam as method,
         array(select o.oprname from unnest(k.conexclop) with ordinality as e (operator, n)
                 join pg_operator o on o.oid = e.operator order by e.n) as operators
    from pg_constraint k join pg_class c on c.oid = k.conindid
   where k.contype = 'x')
select q.what from (
  select coalesce('the view ' || r.ev_class::regclass::text,
                  pg_describe_object(d.classid, d.objid, d.objsubid))
         || case p.attnum when 0 then ', by ' || p.relation::regclass else '' end as what
    from gone p
    join pg_depend d on d.refobjid = p.relation and d.refobjsubid = p.attnum
    left join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
   where d.refclassid = 'pg_class'::regclass
     and (d.deptype = 'n' or d.classid = 'pg_statistic_ext'::regclass)
     and not (d.classid = 'pg_constraint'::regclass
              and exists (select from pg_constraint f where f.oid = d.objid
                            and (f.contype = 'c' or f.contype = 'f' and f.confrelid = <oid>::oid
                                                    and cardinality(f.confkey) = 1)))
     and not (d.classid = 'pg_attrdef'::regclass
              and exists (select from pg_attrdef v
                            join part o on o.relation = v.adrelid and o.attnum = v.adnum
                           where v.oid = d.objid))
     and not (d.classid = 'pg_trigger'::regclass
              and exists (select from pg_trigger g where g.oid = d.objid
                             and (starts_with(g.tgname::text, '~coatcheck_') or g.tgparentid <> 0)))
  union
  select case when i.indisprimary then 'the primary key ' else 'the index ' end
         || i.indexrelid::regclass::text
    from part p
    join pg_index i on i.indrelid = p.relation
   where not (p.is_partition
              and exists (select from pg_inherits h where h.inhrelid = i.indexrelid))
     and not exists (
           select from pg_index same
             join pg_attribute a on a.attrelid = same.indrelid and a.attname = <twin>
            where same.indrelid = i.indrelid and same.indisvalid
              and same.indisunique >= i.indisunique and not i.indisprimary
              and same.indnullsnotdistinct >= i.indnullsnotdistinct
              and same.indnkeyatts = i.indnkeyatts
              and (not i.indisexclusion or exists (
                    select from exclusion e join exclusion s using (method, operators)
                     where e.index = i.indexrelid and s.index = same.indexrelid))
              and (same.indimmediate or not i.indisreplident)
              and i.indexprs is null and i.indpred is null
              and same.indexprs is null and same.indpred is null
              and array_replace(i.indkey::int2[], p.attnum, a.attnum) = same.indkey::int2[])
     and (p.attnum = any (i.indkey::int2[]) or exists (
           select from pg_depend d
            where d.classid = 'pg_class'::regclass and d.objid = i.indexrelid
              and d.refobjid = i.indrelid and d.refobjsubid = p.attnum))
  union
  select case k.contype when 'c' then 'the check ' else 'the foreign key ' end || quote_ident(k.conname)
         || case when p.is_partition then ' of ' || p.relation::regclass else '' end
    from part p
    join pg_constraint k on k.conrelid = p.relation
   where k.contype in ('c', 'f') and p.attnum = any (k.conkey)
     and not (p.is_partition and (k.conparentid <> 0 or not k.conislocal))
     and (cardinality(k.conkey) > 1 or k.confrelid not in (0, <oid>::oid)
          or k.contype = 'c' and not p.is_key and not exists (
            select from pg_constraint same
             where same.conrelid = k.conrelid and same.contype = 'c' and same.convalidated
               and pg_get_constraintdef(same.oid)
                     = replace(pg_get_constraintdef(k.oid), quote_ident(p.attname),
                               quote_ident(<twin>))))
  union
  select format('the default %s of %s.%I', v.old, p.relation::regclass, p.attname)
    from part p
    join lateral (
      select pg_get_expr(d.adbin, d.adrelid) as old from pg_attrdef d
       where d.adrelid = p.relation and d.adnum = p.attnum
      union all
      select 'generated as identity' where p.attidentity <> '') as v on not p.is_key
   where v.old !~ <null_default>
     and not exists (select from pg_attribute a
                       join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
                      where a.attrelid = p.relation and a.attname = <twin>)
     and not exists (select from pg_attribute a
                      where a.attrelid = p.relation and a.attname = <twin> and a.attidentity <> '')
     and not exists (
           select from <table> t
            where t.<id> = case when v.old ~ <constant_default>
                                then trim(both '''()' from split_part(v.old, '::', 1))::bigint end)
  union
  select 'the inheritance of ' || i.inhrelid::regclass || ' from ' || i.inhparent::regclass
    from part p
    join pg_attribute a on a.attrelid = p.relation and a.attnum = p.attnum
    join pg_inherits i on i.inhparent = p.relation or i.inhrelid = p.relation and a.attinhcount > 0
    join pg_class h on h.oid = i.inhrelid and not h.relispartition) as q
 order by 1;
