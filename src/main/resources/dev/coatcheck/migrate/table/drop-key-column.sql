-- Drops the column of the legacy IDs from the table. The archive has all of them, with their keys: old
-- rows since the step "archive", new rows from its trigger. The commit can't be undone.
-- Locks: those of lock.sql, which is sent before.

drop trigger if exists <t_archived> on <table>;

drop trigger if exists <t_reused> on <table>;

drop trigger if exists <t_delete> on <table>;

drop trigger if exists <t_rekey> on <table>;

drop trigger if exists <t_truncate> on <table>;

<identity>;

alter table <table> drop column <id>;

drop function if exists <on_archived>(), <on_reused>(), <on_delete>(), <on_refused>(),
  <fill>(bigint[], bigint[]);
