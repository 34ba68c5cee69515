-- The right to a worker of a Snowflake layout. A worker's milliseconds are granted to one holder at
-- most once: whoever is next begins after granted_until_ms, whatever any clock says.
create table coatcheck.worker_lease (
  layout            text        not null,
  worker            integer     not null,
  epoch             bigint      not null default 0, -- counts holders; a renewal names its own
  granted_until_ms  bigint,               -- the last millisecond ever granted, inclusive
  rest_until_ms     bigint,               -- not to be acquired before
  expires_at        timestamptz,
  timeline          bigint      not null, -- of the primary that wrote the row last
  system_identifier bigint      not null, -- of the same
  holder            text,                 -- null, as the other two, before the first
  constraint worker_lease_pkey               primary key (layout, worker),
  constraint worker_lease_worker_is_positive check (worker >= 0),
  constraint worker_lease_was_held_or_never
    check (num_nulls(granted_until_ms, expires_at, holder) in (0, 3))
);

-- The system on which this schema was made. On its first timeline no registration of a worker can
-- have been lost; anywhere else newly registered workers rest, as all others do after a failover.
create table coatcheck.worker_lease_origin (
  system_identifier bigint not null,
  constraint worker_lease_origin_pkey primary key (system_identifier)
);
insert into coatcheck.worker_lease_origin select system_identifier from pg_control_system();

-- The primary whose grants are known: positions of keys for given times, and numbers of segments.
-- After a failover or a restore the last grants may be lost, so nothing is granted until an
-- operator lifts the fence.
create table coatcheck.key_fence (
  is_only           boolean not null default true,
  timeline          bigint  not null,
  system_identifier bigint  not null,
  segment_advance   bigint  not null default 0, -- skipped so far in each segment
  dated_worker      integer not null default 1, -- of a layout's dated workers the one in use, from 1
  constraint key_fence_pkey   primary key (is_only),
  constraint key_fence_is_one check (is_only)
);
insert into coatcheck.key_fence (timeline, system_identifier)
select ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint,
       (select system_identifier from pg_control_system());

-- How many keys of a layout's dated worker were granted for a millisecond. A row for each
-- millisecond that was ever asked for.
create table coatcheck.dated_key (
  millis  bigint  not null, -- Unix time
  granted bigint  not null,
  layout  text    not null,
  worker  integer not null,
  constraint dated_key_pkey primary key (layout, worker, millis)
);

-- Numbers from a counter: number = start + index * stride.
create table coatcheck.segment (
  next_index bigint      not null default 0, -- the first index that was never granted
  size       bigint      not null,           -- how many indexes there are
  start      bigint      not null,
  stride     bigint      not null,
  advance    bigint      not null default 0, -- key_fence.segment_advance of the last grant
  granted_at timestamptz,                    -- null before the first grant
  created_at timestamptz not null default clock_timestamp(),
  step       integer     not null,           -- how many indexes the last grant had
  step_min   integer     not null,
  step_max   integer     not null,
  bits       smallint    not null,
  tag        text        not null,
  constraint segment_pkey              primary key (tag),
  constraint segment_ends_at_its_size  check (next_index between 0 and size),
  constraint segment_rises             check (start > 0 and stride > 0),
  constraint segment_steps_are_bounded check (step_min between 1 and step_max),
  constraint segment_bits_known        check (bits in (32, 64))
);
