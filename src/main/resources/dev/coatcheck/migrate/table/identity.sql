-- Moves the replica identity of a table off an index with a column that is to be dropped or to become
-- nullable: to an equivalent index on the other column, or else to the primary key. Without a replica
-- identity Postgres would refuse every update and delete of a published table. CLUSTER ON moves to an
-- equivalent index too.
-- Locks: the table in access exclusive mode until the commit, if it has such an index.

do <body>
declare
  relation constant regclass := <relation>::oid::regclass;
  column_number constant int2 := <attnum>::int2;
  old pg_index;
  heir record;
begin
  select i.* into old from pg_index i
   where i.indrelid = relation and i.indisreplident and column_number = any (i.indkey::int2[]);
  if found then
    select c.relname, i.indisprimary into heir
      from pg_index i
      join pg_class c on c.oid = i.indexrelid
      join pg_attribute a on a.attrelid = i.indrelid and a.attname = <twin>
     where i.indrelid = relation and i.indisunique and i.indisvalid and i.indimmediate
       and i.indexprs is null and i.indpred is null
       and array_replace(old.indkey::int2[], column_number, a.attnum) = i.indkey::int2[]
     order by i.indisprimary desc, i.indexrelid limit 1;
    if heir.indisprimary is not false then
      execute format('alter table %s replica identity default', relation);
    else
      execute format('alter table %s replica identity using index %I', relation, heir.relname);
    end if;
  end if;

  select i.* into old from pg_index i
   where i.indrelid = relation and i.indisclustered and column_number = any (i.indkey::int2[]);
  if found then
    select c.relname into heir
      from pg_index i
      join pg_class c on c.oid = i.indexrelid
      join pg_attribute a on a.attrelid = i.indrelid and a.attname = <twin>
     where i.indrelid = relation and i.indisvalid and i.indexprs is null and i.indpred is null
       and c.relam = (select o.relam from pg_class o where o.oid = old.indexrelid)
       and array_replace(old.indkey::int2[], column_number, a.attnum) = i.indkey::int2[]
     order by i.indisprimary desc, i.indexrelid limit 1;
    if found then
      execute format('alter table %s cluster on %I', relation, heir.relname);
    end if;
  end if;
end <body>;
