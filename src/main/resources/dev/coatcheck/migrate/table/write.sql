-- Writes keys to rows, by the function of fill.sql; says the rows that were changed, with the keys that
-- they have now.
-- Values: the legacy IDs of the rows, and the keys.
-- Locks: these rows, until the commit of the batch.

select f.legacy, f.key from <fill>(?::bigint[], ?::bigint[]) as f order by f.legacy;
