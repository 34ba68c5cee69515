-- Step "dual-write": adds the new column together with its triggers, because a value that the application
-- wrote to the column before the triggers exist would count as a key. From the commit on, every new row
-- has a key.
-- Locks: the customer's table in access exclusive mode until the commit, without a scan except for its
-- highest ID; waits for the lock for at most two fifths of deadlock_timeout, then tries again.

alter table <table> add column <key> bigint;

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

-- Under this lock no insert is running: existing rows have no key, new rows get one.
insert into <schema>.checkpoint (run, table_oid, high_id, t0_ms, last_position)
select <run>, <oid>, h.high_id, h.t0_ms, h.position
  from (select m.high_id,
               floor(extract(epoch from clock_timestamp()) * 1000)::bigint - <epoch> as t0_ms,
               greatest(((m.high_id >> <time_shift>) + 1) << <sequence_bits>,
                        coalesce(a.position, 0)) as position
          from (select coalesce(max(t.<id>), 0)::bigint as high_id from <table> t) as m,
               (select max(((key >> <time_shift>) << <sequence_bits>) | (key & <sequence_mask>))
                         as position
                  from <archive>
                 where (key >> <sequence_bits>) & <worker_mask> = <backfill_worker>) as a) as h
on conflict (run) do nothing;

-- The number source starts at T0, and above every key of an earlier run.
select setval(<'mint_seq'>,
  greatest((select t0_ms from <schema>.checkpoint where run = <run>),
           (select coalesce((max(key) >> <time_shift>) + 1, 0) from <archive>)) << <time_shift>);
