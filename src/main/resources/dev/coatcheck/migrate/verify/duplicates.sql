-- Keys that several rows have, with the lowest and the highest ID of these rows, and their number.
-- Without an index it reads the whole table.
-- Values: how many keys.
-- Locks: none.

select t.<key>, min(t.<id>)::bigint, max(t.<id>)::bigint,
       (sum(count(*)) over ())::bigint
  from <table> t where t.<key> is not null
 group by t.<key> having count(*) > 1 order by 2 limit ?;
