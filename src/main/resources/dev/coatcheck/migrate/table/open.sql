-- The first row after an ID that has no key. Rows that wait for a retry have a reserved key, which is not
-- in the table.
-- Locks: none.

select t.<id>::bigint from <table> t
 where t.<key> is null and t.<id> > ?
   and not exists (
     select from <schema>.set_aside s where s.run = <run> and s.legacy = t.<id>)
 order by t.<id> limit 1;
