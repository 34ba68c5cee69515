-- Step "child-index": the index on the twin, by which a deleted row finds its children. Each partition of
-- a child gets one.
-- Locks: the child or partition in share update exclusive mode while it is built; writers go on.

create index concurrently <leaf_index> on <leaf> (<ref>);
