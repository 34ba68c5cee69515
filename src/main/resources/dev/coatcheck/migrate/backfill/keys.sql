with origin as materialized (
  select c.t0_ms, c.high_id from <schema>.checkpoint c where c.run = <run>),
listed as (
  select t.<id>::bigint as id, t.snowflake_id as held, <created_ms> - <epoch> as stated,
         true as is_inside
    from <table> t where t.<id> > ? and t.<id> <= ?
  union all
  (select t.<id>::bigint, null, <created_ms> - <epoch>, false
     from <table> t
    where t.<id> > ? and t.<id> <= (select o.high_id from origin o)
    order by t.<id> limit 128)),
<key_times>,
given as (
  select k.id, k.rn, k.stated, k.ms, k.held is null as is_open, coalesce(k.held, a.key) as key
    from timed k left join <archive> a on a.legacy = k.id),
bounded as (
  select g.id, g.rn, g.stated, g.ms, g.is_open, g.key,
         case when g.key is null then g.ms << 12
              when (g.key >> 12) & 1023::bigint = 1022
              then ((g.key >> 22) << 12) | (g.key & 4095::bigint)
         end as least_position
    from given g),
positioned as (
  select b.id, b.stated, b.ms, b.is_open, b.key,
         b.rn + greatest(?::bigint, max(b.least_position - b.rn) over (order by b.id)) as position
    from bounded b)
select p.id, p.position, p.is_open,
       coalesce(p.key, ((p.position >> 12) << 22) | (1022::bigint << 12) | (p.position & 4095::bigint)),
       p.key is null and p.ms is null and p.stated >= 0,
       p.key is null and p.stated < 0
  from positioned p order by p.id
