-- Entries of some keys that wait in the outboxes, including those that another session is relaying.
-- Values: the keys.
-- Locks: none.

select legacy, key
  from (select legacy, key from <outbox_a> union all select legacy, key from <outbox_b>) as waiting
 where key = any (?::bigint[]);
