-- The last phase: the column of the legacy IDs leaves the table. There is no way back from it.
alter table coatcheck.table_migration
  drop constraint table_migration_state_known,
  add constraint table_migration_state_known
    check (state in ('planned', 'running', 'paused', 'failed', 'cancelled', 'done', 'contracted')),
  drop constraint table_migration_goal_known,
  add constraint table_migration_goal_known
    check (goal in ('forward', 'switch', 'contract', 'verify', 'undo'));

-- How often each statement of the applications was called before the switch, by its number in
-- pg_stat_statements.
alter table coatcheck.table_migration
  add column calls_before_switch jsonb,
  add column switched_at timestamptz;
