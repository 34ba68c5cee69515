-- Step "validate", second transaction: the server looks at all rows.
-- Locks: the customer's table in share update exclusive mode while it is scanned; writers go on.

alter table <table> validate constraint <filled>;
