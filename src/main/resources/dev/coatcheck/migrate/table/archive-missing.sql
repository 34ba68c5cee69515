-- Looks in some more rows for those that are not in the archive with their key, before contract drops the
-- column of the legacy IDs.
-- Values: after which ID, how many rows.
-- Locks: none.

with part as materialized (
  select t.<id>::bigint as legacy, t.<key> as key,
         (select a.key from <archive> a where a.legacy = t.<id>) as archived
    from <table> t where t.<id> > ? order by t.<id> limit ?)
select max(legacy), array_agg(legacy order by legacy) filter (where archived is distinct from key)
  from part;
