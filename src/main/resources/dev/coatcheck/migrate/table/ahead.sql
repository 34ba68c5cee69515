-- The highest position of a row that the backfill has not reached: that of the previous rows, from the
-- same times, plus one for each ID in between. Also returns T0. No row if the backfill has reached it.
-- Values: the ID of the row (four times).
-- Locks: none. The row itself was locked before.

with origin as materialized (
  select c.t0_ms, c.high_id, c.last_id, c.last_position
    from <schema>.checkpoint c where c.run = <run> and c.last_id < ?),
listed as (
  select t.<id>::bigint as id, t.<key> as held, <created_ms> - <epoch> as stated,
         true as is_inside
    from <table> t where t.<id> > (select o.last_id from origin o) and t.<id> <= ?
  union all
  (select t.<id>::bigint, null, <created_ms> - <epoch>, false
     from <table> t
    where t.<id> > ? and t.<id> <= (select o.high_id from origin o)
    order by t.<id> limit 256)),
<key_times>,
highest as (
  select greatest(max(k.ms << <sequence_bits>),
                  max(case when (k.held >> <sequence_bits>) & <worker_mask>::bigint
                                  = <backfill_worker>
                           then ((k.held >> <time_shift>) << <sequence_bits>)
                                  | (k.held & <sequence_mask>::bigint) end)) as position
    from timed k)
select greatest(o.last_position, h.position) + (? - o.last_id), o.t0_ms from origin o, highest h;
