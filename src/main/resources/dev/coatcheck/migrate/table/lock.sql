-- Locks the customer's table, and the tables whose foreign keys are bound to one of its indexes. Writers
-- already wait for the first lock, so all other locks together must be granted within the time for one
-- lock. Where partitioned children lose a column, whole trees are locked.
-- Locks: those tables in access exclusive mode until the commit, in the order of their OIDs; a partitioned
-- table before its partitions, as queries lock them.

do <body>
declare
  longest constant text := current_setting('lock_timeout');
  ends timestamptz;
  relation regclass;
begin
  for relation in
    with recursive bound as (
      select f.conrelid as relation,
             coalesce(pg_partition_root(f.conrelid)::oid, f.conrelid) as root
        from pg_constraint f
       where f.contype = 'f' and f.confrelid = <oid>::oid and f.conindid = <bound_index>),
    tree as ( -- pg_partition_tree would lock the partitions already
      select b.root as relation, b.root from bound b where <with_trees>
      union
      select c.oid, t.root
        from tree t
        join pg_inherits i on i.inhparent = t.relation
        join pg_class c on c.oid = i.inhrelid and c.relispartition)
    select r.relation from (
      select <oid>::oid as relation, <oid>::oid as root
      union
      select b.relation, b.root from bound b
      union
      select t.relation, t.root from tree t) as r
     order by r.root, (select count(*) from pg_partition_ancestors(r.relation::regclass)), r.relation
  loop
    if ends is not null then
      perform set_config(
        'lock_timeout',
        greatest(1, extract(epoch from ends - clock_timestamp()) * 1000)::int || 'ms', true);
    end if;
    execute format('lock table only %s in access exclusive mode', relation);
    ends := coalesce(ends, clock_timestamp() + longest::interval);
  end loop;
  perform set_config('lock_timeout', longest, true);
end <body>;
