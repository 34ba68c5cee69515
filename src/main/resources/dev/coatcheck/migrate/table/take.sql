-- Takes entries out of the outboxes, the oldest of the first table first. Values: how many at most, twice.
-- The numbers of the entries are an array, which is made once. As a joined table they were read anew for
-- each entry where the planner had seen the outbox empty, took more entries than that, and minutes for it.
-- Locks: the rows that it takes; those that another session holds are left for later.

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
