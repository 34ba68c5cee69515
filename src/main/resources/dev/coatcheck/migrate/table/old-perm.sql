-- Step "old-perm": the unique index on the legacy IDs that stays when the primary key moves away. The
-- foreign keys to the legacy IDs are bound to it by the switch.
-- Locks: the customer's table in share update exclusive mode while it is built; writers go on.

create unique index concurrently <old_perm> on <table> (<id>);
