-- The rows on some pages of a child whose two columns don't refer to the same row: returns what the old
-- column refers to. In a partition without the foreign key a row may have no parent; then neither of its
-- columns refers to a row.
-- Values: the first page and the page after the last, as row addresses.
-- Locks: none.

select format('%s refers to %s', <'child_label'>, coalesce(t.<fk>::text, 'nothing'))
  from only <leaf> t left join <table> p on p.<id> = t.<fk>
 where t.ctid >= ?::tid and t.ctid < ?::tid and t.<ref> is distinct from p.<key>
   and (<leaf_is_bound> or p.<key> is not null
        or exists (select from <table> q where q.<key> = t.<ref>));
