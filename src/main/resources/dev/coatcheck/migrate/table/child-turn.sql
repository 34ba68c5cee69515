-- Waits until nobody else builds an index on the child; see turn.sql.
-- Locks: the child in share update exclusive mode, for a moment; writers go on.

lock table <child> in share update exclusive mode;
