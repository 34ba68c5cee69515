-- Rows of the table with their keys, the keys that their legacy IDs had before, and their creation times
-- in milliseconds since the layout's epoch.
-- Values: from which ID on, up to which, how many.
-- Locks: none.

select t.<id>::bigint, t.<key>,
       (select a.key from <archive> a where a.legacy = t.<id>), <created_ms> - <epoch>
  from <table> t where t.<id> >= ? and t.<id> <= ? order by t.<id> limit ?;
