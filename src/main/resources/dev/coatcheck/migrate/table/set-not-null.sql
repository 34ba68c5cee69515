-- Step "set-not-null". The validated check spares the server a scan of the table.
-- Locks: the customer's table in access exclusive mode until the commit.

alter table <table> alter column <key> set not null;

alter table <table> drop constraint <filled>;
