-- Undo of the step "child-column".
-- Locks: the child in access exclusive mode until the commit.

lock table <child> in access exclusive mode;

drop trigger if exists <t_ref_late> on <child>;
drop trigger if exists <t_ref> on <child>;

alter table <child> drop column if exists <ref>;

drop function if exists <on_ref>(), <on_ref_late>(), <fill_ref>(regclass, tid[], bigint[], boolean);
