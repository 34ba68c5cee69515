-- Deletes the entries of keys from the archive, which is read as a whole: for rows of which the gateway
-- does not know the legacy ID, or another.
-- Values: the keys.
-- Locks: the entries.

delete from <archive> where key = any (?::bigint[]);
