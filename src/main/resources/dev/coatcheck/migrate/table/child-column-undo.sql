-- Undo of the step "child-column".
-- Locks: those of lock.sql, which is sent before: the child and its partitions in access exclusive mode until
-- the commit.

drop trigger if exists <t_ref_late> on <child>;
drop trigger if exists <t_ref> on <child>;

alter table <child> drop column if exists <ref>;

drop function if exists <on_ref>(), <on_ref_late>(), <fill_ref>(regclass, tid[], bigint[], boolean);
