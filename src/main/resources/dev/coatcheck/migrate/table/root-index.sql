-- Step "child-index" of a partitioned child: the indexes of its partitions become parts of its index, and
-- new partitions get one. No partition is scanned.
-- Locks: those of lock.sql, which is sent before: the child and its partitions in share mode until the commit.

create index <leaf_index> on <child> (<ref>);
