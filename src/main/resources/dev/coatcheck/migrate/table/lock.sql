-- Locks the customer's table, and the tables whose foreign keys are bound to one of its indexes. Writers
-- already wait for the first lock, so all other locks together must be granted within the time for one
-- lock.
-- Locks: those tables in access exclusive mode until the commit, in the order of their OIDs.

do <body>
declare
  longest constant text := current_setting('lock_timeout');
  ends timestamptz;
  relation regclass;
begin
  for relation in
    select r.relation from (
      select <oid>::oid as relation
      union
      select f.conrelid from pg_constraint f
       where f.contype = 'f' and f.confrelid = <oid>::oid and f.conindid = <bound_index>) as r
     order by r.relation
  loop
    if ends is not null then
      perform set_config(
        'lock_timeout',
        greatest(1, extract(epoch from ends - clock_timestamp()) * 1000)::int || 'ms', true);
    end if;
    execute format('lock table only %s in access exclusive mode', relation);
    ends := coalesce(ends, clock_timestamp() + longest::interval);
  end loop;
  perform set_config('lock_timeout', longest, true);
end <body>;
