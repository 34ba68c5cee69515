-- The switch of the primary key to the new keys, and the time window in which it may begin.
alter table coatcheck.table_migration
  add column switch_not_before timestamptz,
  add column switch_not_after  timestamptz;

alter table coatcheck.table_migration
  drop constraint table_migration_goal_known,
  add constraint table_migration_goal_known
    check (goal in ('forward', 'switch', 'verify', 'undo'));

-- The columns with a foreign key to the table, each of which gets a twin.
alter table coatcheck.table_migration add column children jsonb not null default '[]';
