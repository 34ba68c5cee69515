with locked as materialized (
  select t.<id>::bigint as id from <table> t
   where t.<id> > ? and t.<id> <= ?
   order by t.<id> limit ?
     for no key update of t)
select max(id) from locked
