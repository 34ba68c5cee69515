-- Step "dual-write", before it locks the table: the highest position of the backfill and the highest key
-- in the archive of an earlier run, which is read as a whole. Nothing is archived until the triggers exist.
-- Locks: none.

select set_config('coatcheck.archived_position',
         coalesce(max(((key >> <time_shift>) << <sequence_bits>) | (key & <sequence_mask>))
                    filter (where (key >> <sequence_bits>) & <worker_mask> = <backfill_worker>),
                  0)::text, true),
       set_config('coatcheck.archived_key', coalesce(max(key), 0)::text, true)
  from <archive>;
