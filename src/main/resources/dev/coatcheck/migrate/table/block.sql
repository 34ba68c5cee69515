-- The last ID of the first rows of a range.
-- Values: after which ID, up to which, how many rows.
-- Locks: none.

select max(b.id) from (
  select t.<id>::bigint as id from <table> t
   where t.<id> > ? and t.<id> <= ? order by t.<id> limit ?) as b;
