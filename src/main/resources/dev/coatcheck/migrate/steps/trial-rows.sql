-- The IDs of up to three rows to try an update on. They are of different ages, because what a table
-- refuses in one row may be a matter of that row.
-- Locks: none.

select distinct on (id) id from (values
  (2, (select max(t.<id>) from <table> t)),
  (1, (select min(t.<id>) from <table> t)),
  (3, (select min(t.<id>) from <table> t
        where t.<id> >= (select min(t.<id>) / 2 + max(t.<id>) / 2 from <table> t))))
    as picked (ordinal, id)
 where id is not null;
