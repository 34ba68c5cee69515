-- Puts an empty checkpoint where an undo expects the row of its run. By its T0 no position is left
-- for any key: a backfill that met this row would fail at once.
-- Locks: that of the new row.

insert into <schema>.checkpoint (run, table_oid, high_id, t0_ms, last_position)
values (<run>, <oid>, 0, 0, 0) on conflict do nothing;
