-- Undo of the step "new-pk", also after a failed build.
-- Locks: the customer's table in share update exclusive mode; writers continue.

drop index concurrently if exists <beside_new_pk>;
