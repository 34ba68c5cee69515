-- What would prevent a column from being dropped, or would be dropped with it, in words: objects that
-- depend on the column, and indexes, checks and foreign keys that Postgres drops silently. An index
-- counts only if the new column has no equivalent one.
-- Locks: none.

select q.what from (
  select coalesce('the view ' || r.ev_class::regclass::text,
                  pg_describe_object(d.classid, d.objid, d.objsubid)) as what
    from pg_depend d
    left join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
   where d.refclassid = 'pg_class'::regclass and d.refobjid = <relation>::oid
     and d.refobjsubid = <attnum>::int and d.deptype = 'n'
     and not (d.classid = 'pg_constraint'::regclass
              and exists (select from pg_constraint f where f.oid = d.objid
                            and (f.contype = 'c' or f.contype = 'f' and f.confrelid = <oid>::oid)))
     and not (d.classid = 'pg_trigger'::regclass
              and exists (select from pg_trigger g where g.oid = d.objid
                             and starts_with(g.tgname::text, '~coatcheck_')))
  union
  select case when i.indisprimary then 'the primary key ' else 'the index ' end
         || i.indexrelid::regclass::text
    from pg_index i
   where i.indrelid = <relation>::oid and not exists (
           select from pg_index same
             join pg_attribute a on a.attrelid = same.indrelid and a.attname = <twin>
            where same.indrelid = i.indrelid and same.indisvalid
              and same.indisunique >= i.indisunique and not i.indisprimary
              and (same.indimmediate or not i.indisreplident)
              and i.indexprs is null and i.indpred is null
              and same.indexprs is null and same.indpred is null
              and array_replace(i.indkey::int2[], <attnum>::int2, a.attnum) = same.indkey::int2[])
     and (<attnum>::int2 = any (i.indkey::int2[]) or exists (
           select from pg_depend d
            where d.classid = 'pg_class'::regclass and d.objid = i.indexrelid
              and d.refobjid = i.indrelid and d.refobjsubid = <attnum>::int))
  union
  select case k.contype when 'c' then 'the check ' else 'the foreign key ' end || quote_ident(k.conname)
    from pg_constraint k
   where k.conrelid = <relation>::oid and k.contype in ('c', 'f') and <attnum>::int2 = any (k.conkey)
     and (cardinality(k.conkey) > 1 or k.confrelid not in (0, <oid>::oid))) as q
 order by 1;
