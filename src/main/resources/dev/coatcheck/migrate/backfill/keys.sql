with bound as materialized (
  select max(w.id) as upto
    from (select t.<id>::bigint as id from <table> t
           where t.<id> > ? and t.<id> <= ? order by t.<id> limit ?) as w),
locked as materialized (
  select t.<id>::bigint as id, t.snowflake_id as held, <created_ms> as created_ms
    from <table> t
   where t.<id> > ? and t.<id> <= (select upto from bound)
   order by t.<id>
     for no key update of t),
known as (
  select l.id, l.held is null as open, coalesce(l.held, a.key) as given,
         l.created_ms - <epoch> as ms
    from locked l left join <archive> a on a.legacy = l.id),
placed as (
  select id, open, given, row_number() over (order by id) as rn,
         case when given is null then
                case when ms between 0 and ? - 60000 then ms << 12 end
              when (given >> 12) & 1023 = 1022 then ((given >> 22) << 12) | (given & 4095)
         end as least_place
    from known),
valued as (
  select id, open, given,
         rn + greatest(?, max(least_place - rn) over (order by id)) as place
    from placed),
keyed as (
  select id, coalesce(given,
           ((place >> 12) << 22) | (1022::bigint << 12) | (place & 4095)) as key
    from valued where open)
select k.id, k.key, (select max(place) from valued), (select upto from bound)
  from (select 1) as one left join keyed k on true order by k.id
