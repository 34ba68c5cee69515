-- Step "archive", in an undo and before the old column is dropped: from now on a trigger archives the
-- keys of new rows, while batches (archive-batch.sql) archive the others.
-- Locks: the customer's table in share row exclusive mode until the commit. So every insert is archived,
-- either by the trigger or by the batches, which start before the lowest ID.

lock table <table> in share row exclusive mode;

create or replace trigger <t_archived> after insert on <table>
  referencing new table as inserted
  for each statement execute function <on_archived>();

alter table <table> enable always trigger <t_archived>;

update <schema>.checkpoint set archived_id = -9223372036854775808 where run = <run>;
