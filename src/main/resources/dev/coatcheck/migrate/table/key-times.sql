-- The rule for which rows keep their creation time (KeyTimes), as parts of a WITH, after origin (t0_ms)
-- and listed (id, held, stated, is_inside). "stated" is in milliseconds since the layout's epoch, or
-- null. The rows inside come first, then at least one full block, if there are enough rows. The last part
-- is timed (id, held, stated, rn, ms): the rows inside, with a null "ms" for a row that doesn't keep a
-- time.
-- Locks: none. Part of keys.sql, ahead.sql and sample.sql.

numbered as materialized (
  select l.id, l.held, l.stated, l.is_inside, row_number() over (order by l.id) as rn,
         case when l.stated between 0 and (select o.t0_ms from origin o) then l.stated end as ms
    from listed l),
blocks as (
  select (n.rn - 1) / 128 as block, count(*) as rows,
         percentile_disc(0.5::float8) within group (order by n.ms) as median
    from numbered n group by 1),
followed as materialized (
  select b.block, lead(b.median) over w as median, coalesce(lead(b.rows) over w, 0) = 128 as is_full
    from blocks b window w as (order by b.block)),
capped as materialized (
  select n.id, n.held, n.stated, n.rn, n.ms,
         case when f.is_full then f.median
              when n.rn = (select max(e.rn) from numbered e) then n.ms
              else (select percentile_disc(0.5::float8) within group (order by e.ms)
                      from numbered e where e.rn > n.rn and e.rn <= n.rn + 128) end as cap
    from numbered n join followed f on f.block = (n.rn - 1) / 128
   where n.is_inside),
timed as (
  select c.id, c.held, c.stated, c.rn,
         case when c.ms <= c.cap and c.ms <= (select o.t0_ms - 60000 from origin o)
              then c.ms end as ms
    from capped c);
