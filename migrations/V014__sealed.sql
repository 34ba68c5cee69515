-- Types whose public IDs are sealed from a moment on, and the eras of their seal keys.
alter table coatcheck.type add column sealed_from timestamptz;

comment on column coatcheck.type.sealed_from is
  'Keys of this time or later have sealed public IDs, which are computed and have no row. Set once. '
  'Null: each public ID has a row.';

create table coatcheck.era (
  type_id     integer     not null,
  starts_at   timestamptz,
  fingerprint text        not null,
  created_at  timestamptz not null default now(),
  constraint era_pkey                      primary key (type_id, fingerprint),
  constraint era_start_is_unique           unique nulls not distinct (type_id, starts_at),
  constraint era_of_a_type                 foreign key (type_id) references coatcheck.type (type_id),
  constraint era_fingerprint_is_hexadecimal check (fingerprint ~ '^[0-9a-f]{16}$')
);

comment on table coatcheck.era is
  'Which seal key seals the keys of which time, for each sealed type. The seal keys themselves are '
  'in a file of the gateways, never here.';
comment on column coatcheck.era.starts_at is
  'Keys of this time or later, until the next era of the type. Null: the first era.';
comment on column coatcheck.era.fingerprint is 'Of the seal key: coatcheck types seal-key list.';
