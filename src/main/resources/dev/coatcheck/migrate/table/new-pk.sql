-- Step "new-pk": the unique index that becomes the index of the primary key.
-- Locks: the customer's table in share update exclusive mode during the build; writers continue.

create unique index concurrently <new_pk> on <table> (<key>);
