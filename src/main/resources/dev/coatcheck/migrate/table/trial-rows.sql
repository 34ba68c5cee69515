-- The IDs of up to three rows to try an update on. They are of different ages, because a refusal may
-- depend on the row.
-- Locks: none.

select distinct id from (values
  ((select min(t.<id>) from <table> t)),
  ((select max(t.<id>) from <table> t)),
  ((select min(t.<id>) from <table> t
     where t.<id> >= (select min(t.<id>) / 2 + max(t.<id>) / 2 from <table> t))))
    as picked (id)
 where id is not null;
