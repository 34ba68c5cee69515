-- Puts the mappings of filled rows into the outbox, where the gateway has another database.
-- Values: the legacy IDs of the rows, and the keys.
-- Locks: those of its new rows.

insert into <outbox_a> (legacy, key) select * from unnest(?::bigint[], ?::bigint[]);
