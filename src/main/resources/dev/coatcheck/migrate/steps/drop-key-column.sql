-- Takes the column of the legacy IDs off the table. Before that the archive gets the keys that it lacks;
-- it had those of all others from archive.sql, and is kept. There is no way back from the commit.
-- Locks: those of lock.sql, which is sent before.

insert into <archive> (legacy, key)
select t.<id>, t.<key> from <table> t
 where t.<id> > coalesce((select archived_id from <schema>.checkpoint where run = <run>), 0)
on conflict do nothing;

drop trigger if exists <t_archived> on <table>;

drop trigger if exists <t_reused> on <table>;

drop trigger if exists <t_delete> on <table>;

drop trigger if exists <t_rekey> on <table>;

drop trigger if exists <t_truncate> on <table>;

alter table <table> drop column <id>;

drop function if exists <on_archived>(), <on_reused>(), <on_delete>(), <on_refused>(),
  <fill>(bigint[], bigint[]);
