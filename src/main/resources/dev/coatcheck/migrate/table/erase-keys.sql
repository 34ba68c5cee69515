-- Deletes the entries of keys from an outbox, or from the archive, which is read as a whole: for rows of which
-- the gateway does not know the legacy ID, or another.
-- Values: the keys.
-- Locks: the entries; waits for a relay that has taken them.

delete from <entries> where key = any (?::bigint[]);
