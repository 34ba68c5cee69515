-- Makes the next batch of every earlier runner fail; changes nothing if a later runner has been here.
-- Values: the fence, twice.
-- Locks: the row of the checkpoint.

update <schema>.checkpoint set fence = ?, status = 'running'
 where run = <run> and fence <= ?;
