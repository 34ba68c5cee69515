-- Step "old-pk": the unique index by which an undo moves the primary key back at once.
-- Locks: the customer's table in share update exclusive mode while it is built; writers go on.

create unique index concurrently <old_pk> on <table> (<id>);
