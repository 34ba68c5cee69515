-- Takes entries out of an outbox, the oldest first. Values: how many at most.
-- Locks: the rows that it takes; those that another session holds are left for later.

delete from <outbox> where n in (
  select n from <outbox> order by n limit ? for update skip locked)
returning legacy, key;
