with origin as materialized (
  select c.t0_ms, c.high_id, c.last_id, c.last_position
    from <schema>.checkpoint c where c.run = <run> and c.last_id < ?),
listed as (
  select t.<id>::bigint as id, t.snowflake_id as held, <created_ms> - <epoch> as stated,
         true as is_inside
    from <table> t where t.<id> > (select o.last_id from origin o) and t.<id> <= ?
  union all
  (select t.<id>::bigint, null, <created_ms> - <epoch>, false
     from <table> t
    where t.<id> > ? and t.<id> <= (select o.high_id from origin o)
    order by t.<id> limit 256)),
<key_times>,
highest as (
  select greatest(max(k.ms << 12),
                  max(case when (k.held >> 12) & 1023::bigint = 1022
                           then ((k.held >> 22) << 12) | (k.held & 4095::bigint) end)) as position
    from timed k)
select greatest(o.last_position, h.position) + (? - o.last_id), o.t0_ms from origin o, highest h
