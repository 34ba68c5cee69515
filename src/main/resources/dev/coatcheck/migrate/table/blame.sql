-- Stores why rows could not be filled this time.
-- Values: the cause, the error, the legacy IDs.
-- Locks: these rows of set_aside; none on the customer's table.

update <schema>.set_aside set cause = ?, error = ?, tries = tries + 1
 where run = <run> and legacy = any (?::bigint[]);
