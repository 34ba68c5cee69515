-- Undo of the step "child-index" of a partitioned child, with the indexes of its partitions.
-- Locks: those of lock.sql, which is sent before: the child and its partitions in access exclusive mode until
-- the commit.

drop index if exists <beside_leaf_index>;
