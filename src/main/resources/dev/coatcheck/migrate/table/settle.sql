-- Removes rows from set_aside that are filled or deleted.
-- Values: the legacy IDs.
-- Locks: these rows of set_aside; none on the customer's table.

delete from <schema>.set_aside where run = <run> and legacy = any (?::bigint[]);
