-- Deletes the entries of erased public IDs from an outbox.
-- Values: the keys.
-- Locks: the entries; waits for a relay that has taken them.

delete from <outbox> where key = any (?::bigint[]);
