-- What a backfill could not fill, and rows whose time of creation did not count. The rows that are
-- set aside lie in the source with the keys that are kept for them; here are the first hundred.
drop table coatcheck.table_migration_batch;

create table coatcheck.table_migration_set_aside (
  migration_id bigint not null,
  legacy_id    bigint not null,
  key          bigint not null, -- given, and not yet in the row
  cause        text   not null,
  error        text   not null,
  constraint table_migration_set_aside_pkey primary key (migration_id, legacy_id),
  constraint table_migration_set_aside_cause_known
    check (cause in ('locked', 'slow', 'refused'))
);

alter table coatcheck.table_migration
  add column times_lost     bigint not null default 0, -- rows whose neighbours contradict their time
  add column before_epoch   bigint not null default 0, -- rows that are older than any key can say
  add column rows_set_aside bigint not null default 0;
