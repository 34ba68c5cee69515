-- Step "new-perm": the unique index on the new keys.
-- Locks: the customer's table in share update exclusive mode while it is built; writers go on.

create unique index concurrently <new_perm> on <table> (<key>);
