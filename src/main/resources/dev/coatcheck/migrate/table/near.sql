-- Whether at most so many rows lie between the backfill and a row, or the row has a key that was kept for
-- it. Reads no more than so many entries of the index on the legacy IDs.
-- Values: the legacy ID (three times), how many rows.
-- Locks: none.

select exists (select from <archive> a where a.legacy = ?)
       or exists (select from <schema>.set_aside s where s.run = <run> and s.legacy = ?)
       or not exists (
         select from <table> t
          where t.<id> > (select c.last_id from <schema>.checkpoint c where c.run = <run>)
            and t.<id> <= ?
          order by t.<id> offset ? limit 1);
