-- How a type's old numbers are answered. No status: they are not, outside of /v1.
alter table coatcheck.type
  add column legacy_status          integer,
  add column legacy_public          boolean not null default false,
  add column legacy_max_id          bigint,  -- numbers above were never given; null: no limit
  add column legacy_deprecated_at   timestamptz,
  add column legacy_sunset_at       timestamptz,
  add column legacy_max_age_seconds integer not null default 0,
  add column public_pattern         text,    -- of public IDs of an older system
  add column on_outage              text    not null default 'serve_stale',
  add column stale_seconds_max      integer not null default 60,
  add constraint type_legacy_status_known check (legacy_status in (301, 308)),
  add constraint type_on_outage_known check (on_outage in ('serve_stale', 'refuse'));

-- Legacy look-ups per type and day, so that a sunset is a decision and not a guess.
create table coatcheck.legacy_hit (
  count   bigint  not null,
  day     date    not null, -- in UTC
  type_id integer not null,
  constraint legacy_hit_pkey primary key (type_id, day)
);
