create table coatcheck.worker_lease (
  layout            text    not null,
  worker            integer not null,
  epoch             bigint  not null default 0,
  granted_until_ms  bigint,
  rest_until_ms     bigint,
  expires_at        timestamptz,
  timeline          bigint  not null,
  system_identifier bigint  not null,
  holder            text,
  constraint worker_lease_pkey               primary key (layout, worker),
  constraint worker_lease_worker_is_positive check (worker >= 0),
  constraint worker_lease_was_held_or_never
    check (num_nulls(granted_until_ms, expires_at, holder) in (0, 3))
);

comment on table coatcheck.worker_lease is
  'Leases: the right to a worker of a Snowflake layout. A worker''s milliseconds are granted to '
  'one holder at most once: the next one begins after granted_until_ms, whatever any clock says.';
comment on column coatcheck.worker_lease.epoch is 'Counts holders. A renewal names its own.';
comment on column coatcheck.worker_lease.granted_until_ms is
  'The last millisecond that was ever granted, in Unix time. Null before the first lease.';
comment on column coatcheck.worker_lease.rest_until_ms is
  'The end of the worker''s rest, in Unix milliseconds. Null: it never rested.';
comment on column coatcheck.worker_lease.expires_at is
  'The end of the lease. Null before the first one.';
comment on column coatcheck.worker_lease.timeline is
  'Of the primary that wrote the row last. On any other timeline or system the worker rests once.';
comment on column coatcheck.worker_lease.system_identifier is
  'Of the primary that wrote the row last.';
comment on column coatcheck.worker_lease.holder is
  'The instance that holds the worker, or held it last. Null before the first lease.';

create table coatcheck.worker_lease_origin (
  system_identifier bigint not null,
  constraint worker_lease_origin_pkey primary key (system_identifier)
);
insert into coatcheck.worker_lease_origin select system_identifier from pg_control_system();

comment on table coatcheck.worker_lease_origin is
  'The system on which this schema was made. On its first timeline no registration of a worker '
  'can be lost; anywhere else a newly registered worker rests.';

create table coatcheck.key_fence (
  is_only           boolean not null default true,
  timeline          bigint  not null,
  system_identifier bigint  not null,
  segment_advance   bigint  not null default 0,
  dated_worker      integer not null default 1,
  constraint key_fence_pkey   primary key (is_only),
  constraint key_fence_is_one check (is_only)
);
insert into coatcheck.key_fence (timeline, system_identifier)
select ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint,
       (select system_identifier from pg_control_system());

comment on table coatcheck.key_fence is
  'One row: the primary whose grants of keys for given times and of segments are known. On any '
  'other primary nothing is granted until "coatcheck keys fence".';
comment on column coatcheck.key_fence.segment_advance is
  'How many numbers were skipped so far in each segment.';
comment on column coatcheck.key_fence.dated_worker is
  'Which of a layout''s dated workers is in use, counted from 1.';

create table coatcheck.dated_key (
  millis  bigint  not null,
  granted bigint  not null,
  layout  text    not null,
  worker  integer not null,
  constraint dated_key_pkey primary key (layout, worker, millis)
);

comment on table coatcheck.dated_key is
  'How many keys for given times were granted: a row for each millisecond that was ever asked for.';
comment on column coatcheck.dated_key.millis is 'Unix time.';
comment on column coatcheck.dated_key.worker is 'A dated worker, which is never leased.';

create table coatcheck.segment (
  next_index bigint      not null default 0,
  size       bigint      not null,
  start      bigint      not null,
  stride     bigint      not null,
  advance    bigint      not null default 0,
  granted_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  step       integer     not null,
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

comment on table coatcheck.segment is
  'Segments: dense numbers from a counter, start + index * stride.';
comment on column coatcheck.segment.next_index is 'The first index that was never granted.';
comment on column coatcheck.segment.size is 'How many indexes there are.';
comment on column coatcheck.segment.advance is 'key_fence.segment_advance at the last grant.';
comment on column coatcheck.segment.granted_at is 'Null before the first grant.';
comment on column coatcheck.segment.step is 'How many indexes the last grant had.';
comment on column coatcheck.segment.bits is 'The width of the numbers, 32 or 64.';

alter table coatcheck.type
  add constraint type_tag_is_a_segment foreign key (tag) references coatcheck.segment (tag);
