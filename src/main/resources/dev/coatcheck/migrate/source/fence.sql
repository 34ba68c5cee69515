-- Makes every earlier runner's next batch fail; changes nothing if a later runner was here.
-- Values: the fence, twice.
-- Locks: the row of the checkpoint.

update <schema>.checkpoint set fence = ?, status = 'running'
 where run = <run> and fence <= ?;
