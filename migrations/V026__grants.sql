-- What Postgres grants for good, and no clock can tell again: positions of keys with a time of the
-- caller's, and numbers of segments.

-- The primary whose grants are known. After a failover or a restore the last grants may be lost, so
-- nothing is granted until an operator says by how much to skip them.
create table coatcheck.key_fence (
  is_only           boolean not null default true,
  timeline          bigint  not null,
  system_identifier bigint  not null,
  segment_advance   bigint  not null default 0, -- skipped so far in each segment
  dated_advance     bigint  not null default 0, -- skipped so far in each millisecond
  constraint key_fence_pkey primary key (is_only),
  constraint key_fence_is_one check (is_only)
);
insert into coatcheck.key_fence (timeline, system_identifier)
select ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint,
       (select system_identifier from pg_control_system());

-- How many keys of a layout's worker for dated keys were granted for a millisecond. A row for each
-- millisecond that was ever asked for.
create table coatcheck.dated_key (
  millis  bigint not null, -- Unix time
  granted bigint not null, -- what was skipped included
  advance bigint not null, -- key_fence.dated_advance of the last grant
  layout  text   not null,
  constraint dated_key_pkey primary key (layout, millis)
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
  constraint segment_pkey primary key (tag),
  constraint segment_ends_at_its_size check (next_index between 0 and size),
  constraint segment_rises check (start > 0 and stride > 0),
  constraint segment_steps_are_bounded check (step_min between 1 and step_max),
  constraint segment_bits_known check (bits in (32, 64))
);
