-- Entries of some rows that wait in an outbox.
-- Values: the legacy IDs.
-- Locks: these entries, for key share; waits for a gateway that is relaying one of them.

select n from <outbox> where legacy = any (?::bigint[]) for key share;
