-- The triggers that keep a column in step, in the table and its partitions. The version of a trigger
-- changes each time it is disabled or enabled: the server then writes its row in the catalog again.
-- Locks: none.

select g.oid as trigger_oid, g.xmin::text as version, g.tgparentid <> 0 as is_clone,
       format('%I of %s', g.tgname, g.tgrelid::regclass) as name
  from pg_trigger g
 where quote_ident(g.tgname) = any (array[<triggers>])
   and (g.tgrelid = <relation>::oid
        or g.tgrelid in (select t.relid from pg_partition_tree(<relation>::oid::regclass) as t));
