-- The keys of the rows of a batch, whether or not they already have them, without any lock. A row keeps
-- an existing key; the positions of later rows are above it.
-- Values: after which ID, up to which (twice); the greatest position so far.
-- Locks: none. The rows inside were locked by lock.sql.

with origin as materialized (
  select c.t0_ms, c.high_id from <schema>.checkpoint c where c.run = <run>),
listed as (
  select t.<id>::bigint as id, t.<key> as held, <created_ms> - <epoch> as stated,
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
         case when g.key is null then g.ms << <sequence_bits>
              when (g.key >> <sequence_bits>) & <worker_mask>::bigint = <backfill_worker>
              then ((g.key >> <time_shift>) << <sequence_bits>) | (g.key & <sequence_mask>::bigint)
         end as least_position
    from given g),
positioned as (
  select b.id, b.stated, b.ms, b.is_open, b.key,
         b.rn + greatest(?::bigint, max(b.least_position - b.rn) over (order by b.id)) as position
    from bounded b)
select p.id, p.position, p.is_open,
       coalesce(p.key, ((p.position >> <sequence_bits>) << <time_shift>)
                         | (<backfill_worker>::bigint << <sequence_bits>)
                         | (p.position & <sequence_mask>::bigint)),
       p.key is null and p.ms is null and p.stated >= 0,
       p.key is null and p.stated < 0
  from positioned p order by p.id;
