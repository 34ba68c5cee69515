-- Undo of the step "child-not-null".
-- Locks: those of lock.sql, which is sent before: the child and its partitions in access exclusive mode until
-- the commit.

alter table <child> drop constraint if exists <ref_filled>;
