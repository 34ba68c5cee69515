-- Waits until no other session builds an index on the table, or on a child: two builds on one table would wait
-- for each other until the server ends one of them.
-- Locks: the table or the child in share update exclusive mode, for a moment; writers continue.

lock table <table> in share update exclusive mode;
