-- Locks several tables. Writers already wait for the first lock, so all other locks together must be granted
-- within the time for one lock. A statement that locks a partitioned table with all of its partitions would
-- wait that long for each. Where a step changes partitioned tables, whole trees are locked.
-- Values: a query for the tables and the roots of their trees, and the mode.
-- Locks: those tables in that mode until the commit, in the order of their OIDs; a partitioned table before
-- its partitions, as queries lock them.

do <body>
declare
  longest constant text := current_setting('lock_timeout');
  ends timestamptz;
  relation regclass;
begin
  for relation in
    with recursive wanted as (
      <tables>),
    tree as ( -- pg_partition_tree would lock the partitions already
      select w.root as relation, w.root from wanted w where <with_trees>
      union
      select c.oid, t.root
        from tree t
        join pg_inherits i on i.inhparent = t.relation
        join pg_class c on c.oid = i.inhrelid and c.relispartition)
    select r.relation from (
      select w.relation, w.root from wanted w
      union
      select t.relation, t.root from tree t) as r
     where exists (select from pg_class c where c.oid = r.relation)
     order by r.root, (select count(*) from pg_partition_ancestors(r.relation::regclass)), r.relation
  loop
    if ends is not null then
      perform set_config(
        'lock_timeout',
        greatest(1, extract(epoch from ends - clock_timestamp()) * 1000)::int || 'ms', true);
    end if;
    execute format('lock table only %s in <mode> mode', relation);
    ends := coalesce(ends, clock_timestamp() + longest::interval);
  end loop;
  perform set_config('lock_timeout', longest, true);
end <body>;
