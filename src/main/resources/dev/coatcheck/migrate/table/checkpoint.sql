-- The progress of a run.
-- Locks: none.

select high_id, t0_ms, last_position, last_id, rows_done, times_lost, before_epoch,
       (select count(*) from <schema>.set_aside where run = <run>)
  from <schema>.checkpoint where run = <run>;
