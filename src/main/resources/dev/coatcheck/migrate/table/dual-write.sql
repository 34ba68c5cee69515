-- Step "dual-write": adds the new column together with its triggers, because a value that the application
-- wrote to the column before the triggers exist would count as a key. From the commit on, every new row
-- has a key.
-- Locks: the customer's table in access exclusive mode until the commit, without a scan except for its
-- highest ID; waits for the lock for at most two fifths of deadlock_timeout, then tries again.

alter table <table> add column <key> bigint;

-- A role with rights on single columns gets those that it has on the legacy IDs on the new column too.
do <body>
declare
  given record;
begin
  for given in
    select x.privilege_type as privilege, x.is_grantable,
           case x.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(x.grantee)) end
             as grantee
      from pg_attribute a, aclexplode(a.attacl) as x
     where a.attrelid = <oid>::oid and a.attnum = <key_attnum>::int2
  loop
    execute format('grant %s (%I) on %s to %s%s', given.privilege, <'key'>, <oid>::oid::regclass,
                   given.grantee,
                   case when given.is_grantable then ' with grant option' else '' end);
  end loop;
end <body>;

create trigger <t_insert> before insert on <table>
  for each row execute function <on_insert>();

create trigger <t_inserted> after insert on <table>
  referencing new table as inserted
  for each statement execute function <on_inserted>();

-- Its name sorts after that of the previous trigger.
create trigger <t_reused> after insert on <table>
  referencing new table as inserted
  for each statement execute function <on_reused>();

create trigger <t_delete> before delete on <table>
  for each row execute function <on_delete>();

create trigger <t_update> before update of <key> on <table>
  for each row when (old.<key> is distinct from new.<key>
    and current_setting('coatcheck.fill', true) is distinct from <run>)
  execute function <on_update>();

create trigger <t_rekey> before update of <id> on <table>
  for each row when (old.<id> is distinct from new.<id>)
  execute function <on_refused>();

create trigger <t_truncate> before truncate on <table>
  for each statement execute function <on_refused>();

-- They fire for sessions in replica mode too.
alter table <table> enable always trigger <t_insert>;
alter table <table> enable always trigger <t_inserted>;
alter table <table> enable always trigger <t_reused>;
alter table <table> enable always trigger <t_delete>;
alter table <table> enable always trigger <t_update>;
alter table <table> enable always trigger <t_rekey>;
alter table <table> enable always trigger <t_truncate>;

-- Under this lock no insert is running: existing rows have no key, new rows get one. What the archive has
-- was read before the lock (archived-maxima.sql); a trial leaves it out.
insert into <schema>.checkpoint (run, table_oid, high_id, t0_ms, last_position)
select <run>, <oid>, m.high_id,
       floor(extract(epoch from clock_timestamp()) * 1000)::bigint - <epoch>,
       greatest(((m.high_id >> <time_shift>) + 1) << <sequence_bits>,
                nullif(current_setting('coatcheck.archived_position', true), '')::bigint)
  from (select coalesce(max(t.<id>), 0)::bigint as high_id from <table> t) as m
on conflict (run) do nothing;

-- The number source starts at T0, and above every key of an earlier run.
select setval(<'mint_seq'>,
  greatest((select t0_ms from <schema>.checkpoint where run = <run>),
           (nullif(current_setting('coatcheck.archived_key', true), '')::bigint >> <time_shift>) + 1)
    << <time_shift>);
