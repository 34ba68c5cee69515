-- Which server gave the last number of the change feed. A standby that is promoted may lack the
-- last changes of the old primary, and would give their numbers again, to other changes. A follower
-- that has read the lost ones could not tell. So the first change on another server skips numbers,
-- and every follower begins anew, as it does at any gap.
alter table coatcheck.change_head add column origin text;

comment on column coatcheck.change_head.origin is
  'Which server gave the last number: system identifier and timeline. Null: not known, so the next '
  'change skips no numbers.';
comment on column coatcheck.change.number is
  'In the order of commits. Without gaps, except that the first change on another server skips a '
  'million numbers or more.';

update coatcheck.change_head
   set origin = (select system_identifier from pg_control_system())::text || '/'
       || ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint::text;
