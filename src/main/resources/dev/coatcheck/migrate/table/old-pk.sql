-- Step "old-pk": the unique index with which an undo moves the primary key back at once.
-- Locks: the customer's table in share update exclusive mode during the build; writers continue.

create unique index concurrently <old_pk> on <table> (<id>);
