-- Waits until no other session builds an index on the child; see turn.sql.
-- Locks: the child in share update exclusive mode, for a moment; writers continue.

lock table <child> in share update exclusive mode;
