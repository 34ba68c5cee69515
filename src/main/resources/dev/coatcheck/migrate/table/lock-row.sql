-- Locks one row and returns its key.
-- Values: the legacy ID.
-- Locks: this row, against updates and deletes, until the commit; waits at most 250 ms.

select t.<key> from <table> t where t.<id> = ? for no key update of t;
