-- Prevents look-ups from filling rows ahead of the backfill until the commit: they hold the checkpoint
-- for key share (hold-shared.sql).
-- Locks: the row of the checkpoint.

select 1 from <schema>.checkpoint where run = <run> for update;
