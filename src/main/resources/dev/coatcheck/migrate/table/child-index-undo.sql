-- Undo of the step "child-index", also after a failed build.
-- Locks: the child or partition in share update exclusive mode; writers continue.

drop index concurrently if exists <beside_leaf_index>;
