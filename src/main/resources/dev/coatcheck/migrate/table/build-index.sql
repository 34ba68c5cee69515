-- Builds one of the four unique indexes of a table, in the step of its name:
-- "new-perm": on the new keys.
-- "new-pk": on the new keys; it becomes the index of the primary key.
-- "old-perm": on the legacy IDs; it stays when the primary key moves. The switch binds the foreign keys to the
-- legacy IDs to it.
-- "old-pk": on the legacy IDs; with it an undo moves the primary key back at once.
-- The two that become the index of the primary key have what its index has beside the column
-- (key-index-options.sql).
-- Locks: the customer's table in share update exclusive mode during the build; writers continue.

create unique index concurrently <index> on <table> (<column>)<options>;
