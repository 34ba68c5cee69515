-- Deletes the entries of keys from the archive, which is read as a whole: for rows whose legacy ID the
-- gateway does not know.
-- Values: the keys.
-- Locks: the entries.

delete from <archive> where key = any (?::bigint[]);
