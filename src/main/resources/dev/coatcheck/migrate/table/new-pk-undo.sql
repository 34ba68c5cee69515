-- Undo of the step "new-pk", also of what a build that failed left behind.
-- Locks: the customer's table in share update exclusive mode; writers go on.

drop index concurrently if exists <beside_new_pk>;
