-- How many rows a stretch of the table has, and how many of them would lose their creation time.
-- Values: T0, the first ID, rows to read, rows to judge.
-- Locks: none.

with origin as materialized (select ?::bigint as t0_ms),
read as materialized (
  select t.<id>::bigint as id, <created_ms> - <epoch> as stated
    from <table> t where t.<id> >= ? order by t.<id> limit ?),
listed as (
  select r.id, null::bigint as held, r.stated,
         row_number() over (order by r.id) <= ? as is_inside
    from read r),
<key_times>
select count(*), count(*) filter (where k.ms is null and k.stated >= 0) from timed k;
