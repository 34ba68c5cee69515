-- Step "child-not-null", second transaction: the server validates all rows.
-- Locks: the child and its partitions in share update exclusive mode during the scan; writers continue.

alter table <child> validate constraint <ref_filled>;
