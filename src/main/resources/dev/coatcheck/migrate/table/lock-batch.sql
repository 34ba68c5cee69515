-- Locks the rows of a batch and returns the last ID, or null.
-- Values: after which ID, up to which, how many.
-- Locks: these rows, against updates and deletes, until the commit of the batch; waits at most 250 ms.

with locked as materialized (
  select t.<id>::bigint as id from <table> t
   where t.<id> > ? and t.<id> <= ?
   order by t.<id> limit ?
     for no key update of t)
select max(id) from locked;
