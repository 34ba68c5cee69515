-- Step "child-index": the index on the twin, in which a deleted row finds its children. Each partition of
-- a child gets one.
-- Locks: the child or partition in share update exclusive mode during the build; writers continue.

create index concurrently <leaf_index> on <leaf> (<ref>);
