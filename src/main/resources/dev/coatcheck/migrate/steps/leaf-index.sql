-- Step "child-index" of one partition of a child: see child-index.sql.
-- Locks: the partition in share update exclusive mode while it is built; writers go on.

create index concurrently <leaf_index> on <leaf> (<ref>);
