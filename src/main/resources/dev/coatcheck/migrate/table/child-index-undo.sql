-- Undo of the step "child-index", also of what a build that failed left behind.
-- Locks: the child or partition in share update exclusive mode; writers go on.

drop index concurrently if exists <beside_leaf_index>;
