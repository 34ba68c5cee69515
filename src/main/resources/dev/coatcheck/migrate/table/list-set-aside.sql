-- Rows that were set aside for one of the causes, in the order of their IDs.
-- Values: after which ID, the causes, how many.
-- Locks: none.

select s.legacy, s.key, s.cause, s.error from <schema>.set_aside s
 where s.run = <run> and s.legacy > ? and s.cause = any (?) order by s.legacy limit ?;
