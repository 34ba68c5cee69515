-- Takes entries out of an outbox, the oldest first. Values: how many at most. The numbers of the entries
-- are an array, which is made once. As a joined table they were read anew for each entry where the
-- planner had seen the outbox empty, took more entries than that, and minutes for it.
-- Locks: the rows that it takes; those that another session holds are left for later.

delete from <outbox> where n = any (array(
  select n from <outbox> order by n limit ? for update skip locked))
returning legacy, key;
