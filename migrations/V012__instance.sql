-- The gateways on this database, as each says of itself every half minute.
create table coatcheck.instance (
  holder         text        not null,
  version        text        not null,
  address        text        not null,
  started_at     timestamptz not null,
  seen_at        timestamptz not null,
  feed_silent_ms bigint      not null,
  constraint instance_pkey primary key (holder)
);

comment on table coatcheck.instance is
  'The gateways on this database. A row that is five minutes old is deleted by another one.';
comment on column coatcheck.instance.holder is 'Host and process, as in worker_lease.';
comment on column coatcheck.instance.seen_at is 'When it last wrote this row, by the clock of Postgres.';
comment on column coatcheck.instance.feed_silent_ms is
  'How long ago it last heard from the change feed, in milliseconds.';
