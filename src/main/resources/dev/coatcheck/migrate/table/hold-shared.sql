-- Prevents rows from being set aside (hold.sql) until the commit; batches continue.
-- Locks: the row of the checkpoint, for key share.

select 1 from <schema>.checkpoint where run = <run> for key share;
