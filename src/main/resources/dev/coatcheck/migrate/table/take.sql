-- Takes entries from the outboxes, the oldest of the first table first. Values: how many at most, twice.
-- The numbers of the entries are an array, which is built once. As a joined table they were read again
-- for each entry if the planner's statistics said that the outbox was empty; that took more entries than
-- the limit, and minutes.
-- Locks: the entries that it takes; entries that another session holds are left for later.

with a as (
  delete from <outbox_a> where n = any (array(
    select n from <outbox_a> order by n limit ?::bigint for update skip locked))
  returning legacy, key),
b as (
  delete from <outbox_b> where n = any (array(
    select n from <outbox_b> order by n limit ?::bigint - (select count(*) from a)
       for update skip locked))
  returning legacy, key)
select legacy, key from a union all select legacy, key from b;
