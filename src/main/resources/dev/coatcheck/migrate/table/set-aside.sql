-- Sets rows aside that could not be filled, with their reserved keys.
-- Values: the cause, the error, the legacy IDs, the keys.
-- Locks: the new rows; none on the customer's table.

insert into <schema>.set_aside (run, legacy, key, cause, error)
select <run>, u.legacy, u.key, ?, ?
  from unnest(?::bigint[], ?::bigint[]) as u (legacy, key)
on conflict (run, legacy) do nothing;
