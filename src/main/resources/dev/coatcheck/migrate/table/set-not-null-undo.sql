-- Undo of the step "set-not-null". A column of the replica identity can't become nullable: see
-- identity.sql.
-- Locks: the customer's table in access exclusive mode until the commit.

<identity>;

alter table <table> alter column <key> drop not null;
