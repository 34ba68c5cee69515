-- Undo of the step "archive" of the phase contract: new rows are archived no longer.
-- Locks: the customer's table in access exclusive mode until the commit.

drop trigger if exists <t_archived> on <table>;
