-- Writes the mappings of filled rows to the outbox, if the gateway has another database.
-- Values: the legacy IDs of the rows, and the keys.
-- Locks: the new rows.

insert into <outbox_a> (legacy, key) select * from unnest(?::bigint[], ?::bigint[]);
