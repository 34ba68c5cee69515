-- Step "new-perm": the unique index on the new keys.
-- Locks: the customer's table in share update exclusive mode during the build; writers continue.

create unique index concurrently <new_perm> on <table> (<key>);
