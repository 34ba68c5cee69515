-- The right to a worker of a Snowflake layout. A worker's milliseconds are granted to one holder at
-- most once: whoever is next begins after granted_until_ms, whatever any clock says.
create table coatcheck.worker_lease (
  layout           text        not null,
  worker           integer     not null,
  epoch            bigint      not null default 0, -- counts holders; a renewal names its own
  granted_until_ms bigint      not null default 0, -- the last millisecond ever granted, inclusive
  rest_until_ms    bigint      not null default 0, -- not to be acquired before
  expires_at       timestamptz not null default 'epoch',
  timeline         bigint      not null,           -- of the primary that wrote the row last
  holder           text        not null default '',
  constraint worker_lease_pkey primary key (layout, worker),
  constraint worker_lease_worker_is_positive check (worker >= 0)
);
