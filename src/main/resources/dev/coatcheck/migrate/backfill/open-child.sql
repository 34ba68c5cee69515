-- How many rows of a child have no twin though they refer to a row, and what the first of them refer to.
-- Locks: none.

select count(*), string_agg(distinct o.legacy::text, ', ') filter (where o.n <= 5)
  from (select t.<fk> as legacy, row_number() over () as n from only <leaf> t
         where t.<fk> is not null and t.<ref> is null) as o;
