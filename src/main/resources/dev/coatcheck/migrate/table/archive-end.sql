-- Undo of the step "archive" of the phase contract: stops archiving new rows.
-- Locks: the customer's table in access exclusive mode until the commit.

drop trigger if exists <t_archived> on <table>;
