-- Waits until nobody else builds an index on the table: two builds on one table would wait for each
-- other until the server ends one of them.
-- Locks: the customer's table in share update exclusive mode, for a moment; writers go on.

lock table <table> in share update exclusive mode;
