-- The checkpoint of a run is kept beside the table's rows, in the source's schema
-- coatcheck_migration; here is what people ask for and decide.
create table coatcheck.table_migration (
  migration_id        bigint      generated always as identity,
  run                 uuid        not null default gen_random_uuid(),
  source              text        not null,
  table_oid           bigint      not null,
  table_schema        text        not null,
  table_name          text        not null,
  first_schema        text        not null,
  first_name          text        not null,
  key_column          text        not null,
  key_type            text        not null,
  key_attnum          integer     not null,
  created_at_column   text,
  created_at_type     text,
  created_at_attnum   integer,
  application_path    text        not null,
  children            jsonb       not null default '[]',
  type_id             integer     not null,
  keep_primary_key    boolean     not null,
  plan                jsonb       not null,
  state               text        not null default 'planned',
  occupies            boolean     not null default false,
  goal                text        not null default 'forward',
  undo_phase          text,
  reason              text,
  waits_for           jsonb,
  throttle_settings   jsonb       not null,
  accepted            text[]      not null default '{}',
  report              jsonb,
  imported_id         bigint,
  imported_position   bigint,
  rows_total          bigint      not null default 0,
  rows_done           bigint      not null default 0,
  times_lost          bigint      not null default 0,
  before_epoch        bigint      not null default 0,
  rows_set_aside      bigint      not null default 0,
  worked_millis       bigint      not null default 0,
  switch_not_before   timestamptz,
  switch_not_after    timestamptz,
  switched_at         timestamptz,
  calls_before_switch jsonb,
  last_event          bigint      not null default 0,
  fence               bigint      not null default 0,
  holder              text,
  lease_until         timestamptz,
  created_at          timestamptz not null default now(),
  started_at          timestamptz,
  ended_at            timestamptz,
  constraint table_migration_pkey primary key (migration_id),
  constraint table_migration_has_a_type foreign key (type_id) references coatcheck.type,
  constraint table_migration_state_known check (
    state in ('planned', 'running', 'paused', 'failed', 'cancelled', 'done', 'contracted')),
  constraint table_migration_goal_known check (
    goal in ('forward', 'switch', 'contract', 'verify', 'undo')),
  constraint table_migration_key_type_known check (key_type in ('smallint', 'integer', 'bigint')),
  constraint table_migration_created_at_whole_or_none check (
    num_nulls(created_at_column, created_at_type, created_at_attnum) in (0, 3)),
  constraint table_migration_import_whole_or_none check (
    num_nulls(imported_id, imported_position) in (0, 2)),
  constraint table_migration_switch_whole_or_none check (
    num_nulls(switched_at, calls_before_switch) in (0, 2)),
  constraint table_migration_lease_has_a_holder check (lease_until is null or holder is not null),
  constraint table_migration_json_is_of_its_kind check (
    jsonb_typeof(plan) = 'object' and jsonb_typeof(throttle_settings) = 'object'
      and jsonb_typeof(report) = 'object' and jsonb_typeof(waits_for) = 'object'
      and jsonb_typeof(calls_before_switch) = 'object' and jsonb_typeof(children) = 'array')
);
-- By the OID, because names can be swapped.
create unique index table_migration_one_per_table
  on coatcheck.table_migration (source, table_oid) where occupies;
create unique index table_migration_one_per_type
  on coatcheck.table_migration (type_id) where occupies;

comment on table coatcheck.table_migration is
  'Runs: each is a table of a source on its way to Snowflake keys.';
comment on column coatcheck.table_migration.run is 'The name of the run in its source.';
comment on column coatcheck.table_migration.table_oid is
  'Of the table in its source, by which it is found after a change of its name.';
comment on column coatcheck.table_migration.table_schema is 'The name of now, as is table_name.';
comment on column coatcheck.table_migration.first_schema is
  'With first_name: the name that the table had at its first run. What the gateway makes in the '
  'source is called by it.';
comment on column coatcheck.table_migration.key_column is
  'The primary key with the legacy IDs, by its name of now.';
comment on column coatcheck.table_migration.key_attnum is 'Of key_column in pg_attribute.';
comment on column coatcheck.table_migration.created_at_column is
  'The column that says when a row was made, by its name of now. Null: none.';
comment on column coatcheck.table_migration.created_at_attnum is
  'Of created_at_column in pg_attribute.';
comment on column coatcheck.table_migration.application_path is
  'The search path with which the triggers, checks and index functions of the table run.';
comment on column coatcheck.table_migration.children is
  'The columns with a foreign key to the table, each of which gets a twin.';
comment on column coatcheck.table_migration.keep_primary_key is
  'The run ends without a switch: the legacy IDs stay the primary key.';
comment on column coatcheck.table_migration.plan is 'As it was shown.';
comment on column coatcheck.table_migration.occupies is
  'Something of the run is on the table, or will be: no other run can be started there.';
comment on column coatcheck.table_migration.goal is 'What a running run works towards.';
comment on column coatcheck.table_migration.undo_phase is
  'The first phase that an undo takes back.';
comment on column coatcheck.table_migration.reason is 'Why the run waits, failed or was paused.';
comment on column coatcheck.table_migration.waits_for is
  'The lock in the source that the run waits for, and the sessions in its way. Null: none.';
comment on column coatcheck.table_migration.accepted is
  'The codes of the preconditions that the caller accepted.';
comment on column coatcheck.table_migration.report is
  'Of the last verification. Null before the first.';
comment on column coatcheck.table_migration.imported_id is
  'The highest legacy ID that was imported from a file. Null: no row was.';
comment on column coatcheck.table_migration.imported_position is
  'The last position that was given to a row of a file.';
comment on column coatcheck.table_migration.times_lost is
  'Rows whose time of creation did not count, because their neighbours contradict it.';
comment on column coatcheck.table_migration.before_epoch is
  'Rows that are older than the epoch of the layout. They have the oldest keys.';
comment on column coatcheck.table_migration.rows_set_aside is
  'Rows that the table refuses. The first hundred are in coatcheck.table_migration_set_aside.';
comment on column coatcheck.table_migration.worked_millis is
  'How long the backfill has worked, without its pauses.';
comment on column coatcheck.table_migration.switch_not_before is
  'The beginning of the time window of the switch that was asked for last.';
comment on column coatcheck.table_migration.switch_not_after is 'The end of that time window.';
comment on column coatcheck.table_migration.calls_before_switch is
  'How often each statement of the applications was called before the switch, by its number in '
  'pg_stat_statements.';
comment on column coatcheck.table_migration.last_event is
  'The number of the last event. The lock on this row keeps them in the order of commits.';
comment on column coatcheck.table_migration.fence is
  'Counts the runners of the run. The source refuses an earlier one.';
comment on column coatcheck.table_migration.holder is
  'The instance that carries the run, or did so last. Null before the first.';
comment on column coatcheck.table_migration.lease_until is
  'The end of the runner''s lease. Null: another instance may claim the run at once.';

create table coatcheck.table_migration_step (
  migration_id bigint  not null,
  ordinal      integer not null,
  phase        text    not null,
  name         text    not null,
  state        text    not null default 'pending',
  error        text,
  changed_at   timestamptz,
  constraint table_migration_step_pkey primary key (migration_id, ordinal),
  constraint table_migration_step_has_a_run
    foreign key (migration_id) references coatcheck.table_migration,
  constraint table_migration_step_state_known check (
    state in ('pending', 'applied', 'verified', 'undone', 'failed'))
);

comment on table coatcheck.table_migration_step is
  'The steps of runs: each is applied and undone as a whole.';
comment on column coatcheck.table_migration_step.ordinal is 'From 0, in the order of the run.';
comment on column coatcheck.table_migration_step.error is 'Of a step that failed.';
comment on column coatcheck.table_migration_step.changed_at is 'Null before the start.';

create table coatcheck.table_migration_set_aside (
  migration_id bigint not null,
  legacy_id    bigint not null,
  key          bigint not null,
  cause        text   not null,
  error        text   not null,
  constraint table_migration_set_aside_pkey primary key (migration_id, legacy_id),
  constraint table_migration_set_aside_has_a_run
    foreign key (migration_id) references coatcheck.table_migration,
  constraint table_migration_set_aside_cause_known check (cause in ('locked', 'slow', 'refused', 'erased'))
);

comment on table coatcheck.table_migration_set_aside is
  'The first hundred rows that a backfill set aside. The source has all of them.';
comment on column coatcheck.table_migration_set_aside.key is
  'The key that is reserved for the row, and not yet in it.';

create table coatcheck.table_migration_event (
  migration_id bigint      not null,
  number       bigint      not null,
  at           timestamptz not null default clock_timestamp(),
  actor        text        not null,
  kind         text        not null,
  detail       text        not null,
  constraint table_migration_event_pkey primary key (migration_id, number),
  constraint table_migration_event_has_a_run
    foreign key (migration_id) references coatcheck.table_migration
);

comment on table coatcheck.table_migration_event is 'The events of runs: who did what.';
comment on column coatcheck.table_migration_event.number is
  'From 1 in each run, in the order of commits.';
comment on column coatcheck.table_migration_event.actor is
  'A principal, or the instance that carries the run.';
