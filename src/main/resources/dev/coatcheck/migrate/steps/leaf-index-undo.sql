-- Undo of the step "child-index" of one partition.
-- Locks: the partition in share update exclusive mode; writers go on.

drop index concurrently if exists <beside_leaf_index>;
