-- Archives the key of a row that a look-up has filled: look-ups go on during an undo, whose batches
-- (archive-batch.sql) may have passed the row.
-- Values: the legacy ID, the key.
-- Locks: the new row of the archive; none on the customer's table.

insert into <archive> (legacy, key) values (?, ?) on conflict do nothing;
