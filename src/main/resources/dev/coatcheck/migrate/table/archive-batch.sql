-- Archives the keys of some more rows before an undo removes the keys from the table, or contract the
-- legacy IDs. Returns how many rows it read; nothing at the end.
-- Values: how many rows.
-- Locks: the row of the checkpoint and the new rows of the archive; none on the customer's table. Waits
-- for a row that the application is deleting for at most two fifths of deadlock_timeout, then tries fewer
-- rows; a session that deletes one of these rows waits for the batch.

with part as materialized (
  select t.<id>::bigint as legacy, t.<key> as key from <table> t
   where t.<id> > (select archived_id from <schema>.checkpoint where run = <run>)
   order by t.<id> limit ?),
kept as (
  insert into <archive> (legacy, key)
  select legacy, key from part where key is not null on conflict do nothing)
update <schema>.checkpoint
   set archived_id = (select max(legacy) from part)
 where run = <run> and exists (select from part)
returning (select count(*) from part);
