-- Step "child-index" of a partitioned child: the indexes of its partitions become its parts, and further
-- partitions get one like them. No partition is scanned.
-- Locks: the child and its partitions in share mode until the commit.

create index <leaf_index> on <child> (<ref>);
