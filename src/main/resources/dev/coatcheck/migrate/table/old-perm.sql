-- Step "old-perm": the unique index on the legacy IDs that stays when the primary key moves. The switch
-- binds the foreign keys to the legacy IDs to it.
-- Locks: the customer's table in share update exclusive mode during the build; writers continue.

create unique index concurrently <old_perm> on <table> (<id>);
