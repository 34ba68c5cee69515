-- Step "archive", on the way back and before the old column goes: from now on a trigger archives the
-- keys of new rows, while batches (archive-batch.sql) archive those of the others.
-- Locks: the customer's table in share row exclusive mode until the commit. Under it no insert is
-- under way that would be archived neither by the trigger nor by the batches, which begin anew.

lock table <table> in share row exclusive mode;

create or replace trigger <t_archived> after insert on <table>
  referencing new table as inserted
  for each statement execute function <on_archived>();

alter table <table> enable always trigger <t_archived>;

update <schema>.checkpoint set archived_id = 0 where run = <run>;
