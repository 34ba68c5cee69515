-- Locks those of the rows that no other session holds, and returns their keys.
-- Values: the legacy IDs.
-- Locks: these rows, against updates and deletes, until the commit; never waits.

select t.<id>::bigint, t.<key> from <table> t where t.<id> = any (?::bigint[])
 order by t.<id> for no key update of t skip locked;
