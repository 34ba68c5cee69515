-- Moves the checkpoint of a run behind rows that got keys; changes nothing if another runner has taken
-- over.
-- Values: the last ID, the last position, rows filled, times lost, rows before the epoch, the fence.
-- Locks: the row of the checkpoint, until the commit of the batch.

update <schema>.checkpoint
   set last_id = greatest(last_id, ?), last_position = greatest(last_position, ?),
       rows_done = rows_done + ?, times_lost = times_lost + ?,
       before_epoch = before_epoch + ?
 where run = <run> and fence = ? and status = 'running';
