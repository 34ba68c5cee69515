-- Undo of the step "child-not-null".
-- Locks: the child in access exclusive mode until the commit.

alter table <child> drop constraint if exists <ref_filled>;
