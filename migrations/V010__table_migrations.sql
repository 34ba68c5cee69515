-- A table migration: one customer's table on its way to Snowflake keys. The place in the table
-- (the checkpoint) is kept beside the table's rows, in the source's schema coatcheck_migration;
-- here is what people ask for and decide.
create table coatcheck.table_migration (
  migration_id      bigint      generated always as identity,
  run               uuid        not null default gen_random_uuid(), -- its name in the source
  source            text        not null,
  table_schema      text        not null,
  table_name        text        not null,
  table_oid         bigint      not null,
  key_column        text        not null,
  key_type          text        not null,
  created_at_column text,
  created_at_type   text,
  type_id           integer     not null,
  keep_primary_key  boolean     not null,
  plan              jsonb       not null, -- as it was shown
  state             text        not null default 'planned',
  occupies          boolean     not null default false, -- something of it is on the table
  goal              text        not null default 'forward',
  undo_phase        text,                               -- the first phase that is to be undone
  reason            text,                               -- why it waits, failed or was paused
  knobs             jsonb       not null,
  accepted          text[]      not null default '{}',
  report            jsonb,                              -- of the last verification
  imported_id       bigint      not null default 0,     -- the highest legacy ID of a file
  imported_place    bigint      not null default 0,     -- and the last place that was given
  rows_total        bigint      not null default 0,
  rows_done         bigint      not null default 0,
  worked_millis     bigint      not null default 0,     -- of the backfill, without pauses
  last_event        bigint      not null default 0,
  fence             bigint      not null default 0,     -- counts runners; each names its own
  holder            text        not null default '',
  lease_until       timestamptz not null default 'epoch',
  created_at        timestamptz not null default now(),
  started_at        timestamptz,
  ended_at          timestamptz,
  constraint table_migration_pkey primary key (migration_id),
  constraint table_migration_state_known
    check (state in ('planned', 'running', 'paused', 'failed', 'cancelled', 'done')),
  constraint table_migration_goal_known check (goal in ('forward', 'verify', 'undo'))
);
create unique index table_migration_one_per_table
  on coatcheck.table_migration (source, table_schema, table_name) where occupies;
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
  constraint table_migration_step_state_known
    check (state in ('pending', 'applied', 'verified', 'undone', 'failed'))
);

-- A range of legacy IDs that could not be filled in three tries and was set aside.
create table coatcheck.table_migration_batch (
  migration_id bigint  not null,
  after_id     bigint  not null, -- exclusive
  last_id      bigint  not null, -- inclusive
  first_place  bigint  not null, -- the keys that are kept free for it come after this one
  tries        integer not null,
  state        text    not null,
  error        text    not null,
  constraint table_migration_batch_pkey primary key (migration_id, after_id),
  constraint table_migration_batch_state_known check (state in ('failed', 'done'))
);

-- Who did what, and what came of it. Numbered by the migration's row, whose lock keeps the numbers
-- in the order of commits.
create table coatcheck.table_migration_event (
  migration_id bigint      not null,
  number       bigint      not null,
  at           timestamptz not null default clock_timestamp(),
  actor        text        not null, -- a principal, or the instance that runs it
  kind         text        not null,
  detail       text        not null,
  constraint table_migration_event_pkey primary key (migration_id, number)
);
