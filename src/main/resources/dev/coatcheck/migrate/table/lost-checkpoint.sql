-- Creates an empty checkpoint where an undo expects the row of its run. With its T0 no position is left
-- for any key, so a backfill that reads this row fails at once.
-- Locks: the new row.

insert into <schema>.checkpoint (run, table_oid, high_id, t0_ms, last_position)
values (<run>, <oid>, 0, 0, 0) on conflict do nothing;
