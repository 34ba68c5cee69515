-- Those of the rows that exist in the table.
-- Values: the legacy IDs.
-- Locks: none.

select t.<id>::bigint from <table> t where t.<id> = any (?::bigint[]);
