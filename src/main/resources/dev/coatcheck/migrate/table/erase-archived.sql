-- Deletes the entries of erased public IDs from the archive.
-- Values: the legacy IDs and the keys, in pairs.
-- Locks: the entries.

delete from <archive> as a using unnest(?::bigint[], ?::bigint[]) as erased (legacy, key)
 where a.legacy = erased.legacy and a.key = erased.key;
