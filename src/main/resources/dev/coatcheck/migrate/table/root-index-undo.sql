-- Undo of the step "child-index" of a partitioned child, with the indexes of its partitions.
-- Locks: the child and its partitions in access exclusive mode until the commit.

drop index if exists <beside_leaf_index>;
