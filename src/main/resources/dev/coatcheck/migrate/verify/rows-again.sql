-- Like rows.sql, for rows that have to be read again.
-- Values: the legacy IDs.
-- Locks: none.

select t.<id>::bigint, t.<key>,
       (select a.key from <archive> a where a.legacy = t.<id>), <created_ms> - <epoch>
  from <table> t where t.<id> = any (?::bigint[]) order by t.<id>;
