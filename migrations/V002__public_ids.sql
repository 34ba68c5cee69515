-- Mappings are the hot rows of the product: fixed width, widest column first, nothing nullable.
-- Each unique rule holds the bucket, so that the tables can be distributed by it. They and the
-- aliases have no foreign key to the type: types are never deleted, and each insert would lock the
-- same row.
create table coatcheck.public_id (
  key        bigint      not null,
  created_at timestamptz not null default now(),
  token      uuid        not null,
  type_id    integer     not null,
  bucket     smallint    not null,
  status     smallint    not null default 0,
  constraint public_id_token_is_unique primary key (bucket, token),
  -- Leads with the type, so that one index serves lookup and "newest first" alike.
  constraint public_id_key_is_unique   unique (type_id, key, bucket),
  constraint public_id_status_known    check (status between 0 and 3)
);

create table coatcheck.public_id_uuid (
  key        uuid        not null,
  token      uuid        not null,
  created_at timestamptz not null default now(),
  type_id    integer     not null,
  bucket     smallint    not null,
  status     smallint    not null default 0,
  constraint public_id_uuid_token_is_unique primary key (bucket, token),
  constraint public_id_uuid_key_is_unique   unique (type_id, key, bucket),
  constraint public_id_uuid_status_known    check (status between 0 and 3)
);

-- Nearly all rows are active, so a list of the others needs an index of its own.
create index public_id_ended on coatcheck.public_id (type_id, key) where status <> 0;
create index public_id_uuid_ended on coatcheck.public_id_uuid (type_id, key) where status <> 0;

comment on table coatcheck.public_id is 'The mappings of types with bigint keys.';
comment on table coatcheck.public_id_uuid is 'The mappings of types with UUID keys.';

do $$
declare
  name text;
begin
  foreach name in array array['public_id', 'public_id_uuid'] loop
    execute format(
      $comments$
        comment on column coatcheck.%1$I.key is 'The primary key in your database; of an erased public ID a key that no row can have.';
        comment on column coatcheck.%1$I.created_at is
          'Of an erased public ID the time when it was erased.';
        comment on column coatcheck.%1$I.token is 'The 128-bit number in the public ID.';
        comment on column coatcheck.%1$I.bucket is
          'Of the key, 0 to 1023: the shard hint, also the lowest ten bits of the token.';
        comment on column coatcheck.%1$I.status is
          '0 active, 1 revoked, 2 merged: coatcheck.ending says when and why; 3 erased.';
        comment on index coatcheck.%1$I_ended is 'For lists of revoked and of merged public IDs.';
      $comments$,
      name);
  end loop;
end $$;

-- "No namespace" is the empty text instead of null, so that the primary key can hold the namespace,
-- and lookups compare it with "=".
create table coatcheck.alias (
  token     uuid     not null,
  type_id   integer  not null,
  bucket    smallint not null,
  scheme    text     not null,
  value     text     not null,
  namespace text     not null,
  constraint alias_name_is_unique primary key (bucket, type_id, scheme, value, namespace),
  constraint alias_scheme_known   check (scheme in ('legacy', 'client', 'public'))
);
-- 35 bytes an alias and a tenth more time per insert; a b-tree by type and token takes 55 bytes and
-- a third more time.
create index alias_by_token on coatcheck.alias using hash (token);

comment on table coatcheck.alias is
  'Other names of mapped keys. An alias belongs to one public ID until it is removed, also after '
  'the end of that, unless it is erased.';
comment on column coatcheck.alias.token is 'Of the public ID that has this alias.';
comment on column coatcheck.alias.bucket is 'Of the scheme and the value, 0 to 1023.';
comment on column coatcheck.alias.scheme is
  'legacy: a legacy ID; client: a client ID; public: a public ID of an older system.';
comment on column coatcheck.alias.namespace is
  'What a client ID is unique in: n:<text>, p:<principal>, or empty, shared by all callers.';
comment on index coatcheck.alias_by_token is 'For all aliases of a public ID.';

-- By the type and the token: an import can bring the token of one type to another type. Without a
-- bucket, because endings are few: where mappings are distributed, this is a reference table.
create table coatcheck.ending (
  token    uuid        not null,
  survivor uuid,
  ended_at timestamptz not null default now(),
  type_id  integer     not null,
  status   smallint    not null,
  reason   text,
  ended_by text        not null,
  constraint ending_pkey                primary key (type_id, token),
  constraint ending_has_a_type          foreign key (type_id) references coatcheck.type,
  constraint ending_status_known        check (status in (1, 2, 3)),
  constraint ending_merged_has_survivor check ((status = 2) = (survivor is not null))
);
create index ending_by_survivor on coatcheck.ending (type_id, survivor) where survivor is not null;

comment on table coatcheck.ending is
  'How public IDs ended, for good. Their mappings stay: neither token nor key is used again.';
comment on column coatcheck.ending.survivor is
  'The token that this one was merged into, never one that ended itself. Null: revoked or erased.';
comment on column coatcheck.ending.status is 'As in the mapping: 1 revoked, 2 merged, 3 erased after that.';
comment on column coatcheck.ending.reason is
  'For authenticated callers only. Null: none was given, or erased.';
comment on column coatcheck.ending.ended_by is 'A principal.';
comment on index coatcheck.ending_by_survivor is
  'When a survivor is merged in turn, those that were merged into it follow.';
