-- A run: one table of a source on its way to Snowflake keys. The checkpoint is kept beside the
-- table's rows, in the source's schema coatcheck_migration; here is what people ask for and decide.
create table coatcheck.table_migration (
  migration_id        bigint      generated always as identity,
  run                 uuid        not null default gen_random_uuid(), -- its name in the source
  source              text        not null,
  table_oid           bigint      not null,
  table_schema        text        not null,           -- these two and the columns' are names of now
  table_name          text        not null,
  first_schema        text        not null,           -- our objects are called by these two
  first_name          text        not null,
  key_column          text        not null,
  key_type            text        not null,
  key_attnum          integer     not null,
  created_at_column   text,
  created_at_type     text,
  created_at_attnum   integer,
  application_path    text        not null,
  children            jsonb       not null default '[]', -- the columns with a foreign key to the table
  type_id             integer     not null,
  keep_primary_key    boolean     not null,
  plan                jsonb       not null,           -- as it was shown
  state               text        not null default 'planned',
  occupies            boolean     not null default false, -- something of it is on the table
  goal                text        not null default 'forward',
  undo_phase          text,                           -- the first phase that is to be undone
  reason              text,                           -- why it waits, failed or was paused
  waits_for           jsonb,                          -- the lock in the source that it waits for
  throttle_settings   jsonb       not null,
  accepted            text[]      not null default '{}',
  report              jsonb,                          -- of the last verification
  imported_id         bigint,                         -- the highest legacy ID of a file
  imported_position   bigint,                         -- and the last position that was given
  rows_total          bigint      not null default 0,
  rows_done           bigint      not null default 0,
  times_lost          bigint      not null default 0, -- rows whose neighbours contradict their time
  before_epoch        bigint      not null default 0, -- rows that are older than any key can say
  rows_set_aside      bigint      not null default 0,
  worked_millis       bigint      not null default 0, -- of the backfill, without pauses
  switch_not_before   timestamptz,
  switch_not_after    timestamptz,
  switched_at         timestamptz,
  calls_before_switch jsonb,                          -- of each statement of the applications
  last_event          bigint      not null default 0,
  fence               bigint      not null default 0, -- counts runners; each names its own
  holder              text,                           -- the last instance that carried it on
  lease_until         timestamptz,                    -- null: it may be claimed at once
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

-- The first hundred rows that a backfill could not fill. All of them lie in the source, with the
-- keys that are kept for them.
create table coatcheck.table_migration_set_aside (
  migration_id bigint not null,
  legacy_id    bigint not null,
  key          bigint not null, -- given, and not yet in the row
  cause        text   not null,
  error        text   not null,
  constraint table_migration_set_aside_pkey primary key (migration_id, legacy_id),
  constraint table_migration_set_aside_has_a_run
    foreign key (migration_id) references coatcheck.table_migration,
  constraint table_migration_set_aside_cause_known check (cause in ('locked', 'slow', 'refused'))
);

-- Who did what, and what came of it. Numbered by the run's row, whose lock keeps the numbers in the
-- order of commits.
create table coatcheck.table_migration_event (
  migration_id bigint      not null,
  number       bigint      not null,
  at           timestamptz not null default clock_timestamp(),
  actor        text        not null, -- a principal, or the instance that runs it
  kind         text        not null,
  detail       text        not null,
  constraint table_migration_event_pkey primary key (migration_id, number),
  constraint table_migration_event_has_a_run
    foreign key (migration_id) references coatcheck.table_migration
);
