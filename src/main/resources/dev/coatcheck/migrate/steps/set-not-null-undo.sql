-- Undo of the step "set-not-null".
-- Locks: the customer's table in access exclusive mode until the commit.

alter table <table> alter column <key> drop not null;
