-- Keeps rows from being set aside (hold.sql) until the commit; batches go on.
-- Locks: the row of the checkpoint, for key share.

select 1 from <schema>.checkpoint where run = <run> for key share;
