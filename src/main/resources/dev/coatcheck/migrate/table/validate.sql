-- Step "validate", second transaction: the server validates all rows.
-- Locks: the customer's table in share update exclusive mode during the scan; writers continue.

alter table <table> validate constraint <filled>;
