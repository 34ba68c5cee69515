-- Drops the triggers of a contracted run. From the commit on, new rows get no entry in the outbox and no
-- key from us.
-- Locks: the customer's table in access exclusive mode until the commit, without a scan; waits for the
-- lock for at most two fifths of deadlock_timeout, then tries again.

lock table only <table> in access exclusive mode;

drop trigger if exists <t_insert> on <table>;

drop trigger if exists <t_inserted> on <table>;

drop trigger if exists <t_update> on <table>;
