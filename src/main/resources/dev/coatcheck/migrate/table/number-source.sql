-- The number source of new rows. Its sequence holds milliseconds << 22 | n, counted from the layout's
-- epoch, and only moves forward. n below 4096 may be issued; the values above are a gate and are never
-- issued.
-- The usual call is one nextval without a lock. If the value is over 1 ms old or in the gate, the
-- sequence is moved under an advisory lock that is taken inside a subtransaction. An error of our own,
-- raised and caught, rolls the subtransaction back. This releases the lock at once, after any other error
-- too, while the sequence keeps its new value. (A session lock leaks when a statement times out; a lock
-- around setval only causes duplicates, and so does a cache above 1.)
-- Locks: that advisory lock, while the sequence is moved.

create function <number_source> returns bigint
  language plpgsql volatile parallel unsafe security definer
  set search_path = pg_catalog, pg_temp as <body>
declare
  v  bigint := nextval(<numbers>);
  ms bigint := floor(extract(epoch from <clock>) * 1000)::bigint - <epoch>;
begin
  if (v & <below_time_mask>) >= <keys_per_ms> or (v >> <time_shift>) < ms - 1 then
    begin
      if (v & <below_time_mask>) >= <keys_per_ms> or (v >> <time_shift>) < ms - 10 then
        perform pg_advisory_xact_lock(<lock_class>, <lock_table>);
      elsif not pg_try_advisory_xact_lock(<lock_class>, <lock_table>) then
        -- Another session is moving it; v is unique and at most 10 ms old.
        raise exception using errcode = 'CC000';
      end if;
      v  := nextval(<numbers>);
      ms := floor(extract(epoch from <clock>) * 1000)::bigint - <epoch>;
      if (v >> <time_shift>) < ms or (v & <below_time_mask>) >= <keys_per_ms> then
        v := setval(<numbers>, greatest(ms, (v >> <time_shift>) + 1) << <time_shift>);
      end if;
      raise exception using errcode = 'CC000';
    exception when sqlstate 'CC000' then null;
    end;
  end if;
  return v | (<number_source_worker>::bigint << <sequence_bits>);
end <body>;
