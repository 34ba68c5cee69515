-- How many entries wait in the outboxes, and the age in seconds of the oldest key among them that a
-- trigger has generated.
-- Locks: none.

select count(*), coalesce(floor(extract(epoch from clock_timestamp()))::bigint
         - (((min(key) filter (where (key >> <sequence_bits>) & <worker_mask> = <number_source_worker>))
              >> <time_shift>) + <epoch>) / 1000, 0)
  from (select key from <outbox_a> union all select key from <outbox_b>) as waiting;
