-- Step "child-index": the index on the twin, by which a deleted row finds its children.
-- Locks: the child in share update exclusive mode while it is built; writers go on.

create index concurrently <ref_index> on <child> (<ref>);
