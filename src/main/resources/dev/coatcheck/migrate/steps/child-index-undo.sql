-- Undo of the step "child-index", also of what a build that failed left behind.
-- Locks: the child in share update exclusive mode; writers go on.

drop index concurrently if exists <beside_ref_index>;
