-- Undo of the step "dual-write": archives the keys that are not archived yet, and drops the triggers and
-- the column.
-- Locks: the customer's table in access exclusive mode until the commit; waits for the lock for at most
-- two fifths of deadlock_timeout, then tries again.

lock table <table> in access exclusive mode;

-- Nothing can be archived if the legacy IDs are gone.
do <body> begin
  if exists (select from pg_attribute a where a.attrelid = <oid>::oid and a.attnum = <key_attnum>
                and not a.attisdropped) then
    insert into <archive> (legacy, key)
    select t.<id>, t.<key> from <table> t
     where t.<key> is not null
       and t.<id> > coalesce(
         (select archived_id from <schema>.checkpoint where run = <run>), 0)
    on conflict do nothing;
  end if;
end <body>;

drop trigger if exists <t_archived> on <table>;
drop trigger if exists <t_insert> on <table>;
drop trigger if exists <t_inserted> on <table>;
drop trigger if exists <t_reused> on <table>;
drop trigger if exists <t_delete> on <table>;
drop trigger if exists <t_update> on <table>;
drop trigger if exists <t_rekey> on <table>;
drop trigger if exists <t_truncate> on <table>;

alter table <table> drop column if exists <key>;

delete from <schema>.set_aside where run = <run>;
delete from <schema>.checkpoint where run = <run>;
