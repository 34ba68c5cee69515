-- Keys for given times have several workers of a layout. After a failover, which may have lost the
-- last counts, an operator names the next one instead of a number of keys to skip.

-- Which of a layout's workers for given times is in use, counted from 1. What was skipped on the
-- first may have filled whole ticks for good, so there the second goes on.
alter table coatcheck.key_fence add column dated_worker integer not null default 1;
update coatcheck.key_fence set dated_worker = 2 where dated_advance > 0;
alter table coatcheck.key_fence drop column dated_advance;

-- All counts so far are those of the third worker from the top, or of 1021 in large layouts.
alter table coatcheck.dated_key add column worker integer not null default 1021;
update coatcheck.dated_key
   set worker = case layout when 'wide-sequence' then 253 else
         least(1 << (63 - substring(layout from '^[0-9]+')::int
                        - coalesce(substring(layout from '/s([0-9]+)/'),
                                   substring(layout from '/([0-9]+)@'))::int), 1024) - 3 end
 where layout not in ('default', 'twitter', 'regional');
alter table coatcheck.dated_key
  alter column worker drop default,
  drop column advance,
  drop constraint dated_key_pkey,
  add constraint dated_key_pkey primary key (layout, worker, millis);
