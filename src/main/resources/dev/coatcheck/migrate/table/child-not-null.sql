-- Step "child-not-null", first transaction: a check that the twin is never null, for new and changed rows,
-- if the column itself never is. From now on a row of the child can't come before the row that it refers
-- to, unless it is written by the twin.
-- Locks: the child in access exclusive mode until the commit; nothing is scanned.

alter table <child> add constraint <ref_filled> check (<ref> is not null) not valid;
