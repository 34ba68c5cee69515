-- What runners see of a backfill and its source, for the charts of the console.
create table coatcheck.table_migration_load (
  migration_id        bigint      not null,
  at                  timestamptz not null,
  rows_done           bigint      not null,
  replica_lag_seconds bigint,
  wal_bytes           bigint,
  reason              text,
  constraint table_migration_load_pkey primary key (migration_id, at),
  constraint table_migration_load_has_a_run
    foreign key (migration_id) references coatcheck.table_migration
);

comment on table coatcheck.table_migration_load is
  'What runners saw of a backfill every five seconds. A runner deletes what is older than an hour.';
comment on column coatcheck.table_migration_load.replica_lag_seconds is
  'Of the slowest replica. Null without a replica.';
comment on column coatcheck.table_migration_load.wal_bytes is
  'The position in the WAL that the source had written. Null if nobody asked for it.';
comment on column coatcheck.table_migration_load.reason is 'Why the run waited. Null: it did not.';
