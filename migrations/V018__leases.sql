-- Leases over HTTP, and one window for all holders of workers.
alter table coatcheck.worker_lease
  add column lease_hash bytea
    constraint worker_lease_hash_is_unique     unique
    constraint worker_lease_hash_is_sha256     check (octet_length(lease_hash) = 32),
  add column principal  text
    constraint worker_lease_over_http_is_whole check ((lease_hash is null) = (principal is null));

comment on column coatcheck.worker_lease.lease_hash is
  'SHA-256 of the ID of a lease over HTTP. Null: leased by a gateway, or straight from Postgres.';
comment on column coatcheck.worker_lease.principal is
  'Who leased over HTTP; only its API keys renew and release. Null as lease_hash.';

create table coatcheck.lease_window (
  is_only    boolean not null default true,
  window_ms  bigint  not null,
  longest_ms bigint  not null,
  constraint lease_window_pkey             primary key (is_only),
  constraint lease_window_is_one           check (is_only),
  constraint lease_window_is_bounded       check (window_ms between 2000 and 60000),
  constraint lease_window_longest_is_known check (longest_ms between window_ms and 60000)
);

comment on table coatcheck.lease_window is
  'One row, which the first holder writes: the window of all leases of workers, in milliseconds. '
  'A holder with another setting acquires none.';
comment on column coatcheck.lease_window.longest_ms is
  'The longest window ever. Rests after a failover are measured by it.';

alter table coatcheck.api_key
  add column lease_max integer
    constraint api_key_lease_max_is_bounded check (lease_max between 0 and 1024);

comment on column coatcheck.api_key.lease_max is
  'How many workers its principal may have over HTTP at the same time. Null: the default.';
