-- Deletes rows of erased public IDs from the list of rows set aside.
-- Values: the keys, the legacy IDs.
-- Locks: the entries of the list.

delete from <schema>.set_aside
 where run = <run> and (key = any (?::bigint[]) or legacy = any (?::bigint[]));
