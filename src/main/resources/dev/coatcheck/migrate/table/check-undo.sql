-- Undo of the step "validate".
-- Locks: the customer's table in access exclusive mode until the commit.

alter table <table> drop constraint if exists <filled>;
