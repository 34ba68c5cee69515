-- Fills the twins of the rows on some pages of a child.
-- Values: the first page and the page after the last, as row addresses.
-- Locks: the rows without a twin, until the commit of the batch.

with open as materialized (
  select t.ctid as row, t.<fk> as legacy from only <leaf> t
   where t.ctid >= ?::tid and t.ctid < ?::tid and t.<fk> is not null and t.<ref> is null
     for no key update)
select coalesce(cardinality(o.rows), 0), f.*
  from (select array_agg(open.row) as rows, array_agg(p.<key>) as keys
          from open join <table> p on p.<id> = open.legacy) as o
  left join lateral <fill_ref>(<leaf_oid>::oid::regclass, o.rows, o.keys, true) as f on o.rows is not null;
