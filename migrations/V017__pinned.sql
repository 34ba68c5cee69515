-- What remains of a leaked seal key: rows for the keys that the owner supplies, and the moment from
-- which nothing else of its era resolves.
alter table coatcheck.era add column closed_at timestamptz;

comment on column coatcheck.era.closed_at is
  'From then on public IDs of the era resolve by their rows alone, so the seal key is needed only to '
  'pin further keys. Null: the seal key opens them.';

create table coatcheck.pinned_key (
  key     bigint   not null,
  token   uuid     not null,
  type_id integer  not null,
  bucket  smallint not null,
  constraint pinned_key_pkey primary key (bucket, type_id, key)
);

comment on table coatcheck.pinned_key is
  'Which public ID a key of a closed era has. Its mapping has the bucket of the token, which only the '
  'seal key can tell from the key.';
comment on column coatcheck.pinned_key.token is 'Of the public ID, whose mapping has a row too.';
comment on column coatcheck.pinned_key.bucket is 'Of the key, 0 to 1023, as if it were stored.';
