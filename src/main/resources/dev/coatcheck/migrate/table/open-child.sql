-- How many rows of a child have no twin although they refer to a row, and what the first of them refer
-- to. A partition without the foreign key may have rows whose parent does not exist: they get no twin.
-- Locks: none.

select count(*), string_agg(distinct o.legacy::text, ', ') filter (where o.n <= 5)
  from (select t.<fk> as legacy, row_number() over () as n from only <leaf> t
         where t.<fk> is not null and t.<ref> is null
           and (<leaf_is_bound> or exists (select from <table> p where p.<id> = t.<fk>))) as o;
