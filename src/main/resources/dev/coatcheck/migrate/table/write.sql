-- Writes keys to rows with the function of fill.sql; returns the changed rows, with their current keys.
-- Values: the legacy IDs of the rows, and the keys.
-- Locks: these rows, until the commit of the batch.

select f.legacy, f.key from <fill>(?::bigint[], ?::bigint[]) as f order by f.legacy;
