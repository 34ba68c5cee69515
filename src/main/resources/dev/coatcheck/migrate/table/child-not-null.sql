-- Step "child-not-null", first transaction: a check that the twin is never null, for new and changed
-- rows, if the column itself is never null. From now on a row of the child can't be inserted before the
-- row that it refers to, unless it is written with the twin.
-- Locks: those of lock.sql, which is sent before: the child and its partitions in access exclusive mode until
-- the commit, without a scan.

alter table <child> add constraint <ref_filled> check (<ref> is not null) not valid;
