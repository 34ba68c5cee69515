-- The mapping, and the hot rows of the whole product: fixed width, widest column first, nothing
-- nullable. Every unique rule holds the bucket, so that the table can be distributed by it. No
-- foreign key to the type: types are never deleted, and every insert would lock the same type row.
create table coatcheck.public_id (
  key        bigint      not null,
  created_at timestamptz not null default now(),
  token      uuid        not null,
  type_id    integer     not null,
  bucket     smallint    not null, -- also the lowest ten bits of the token
  status     smallint    not null default 0, -- 0 active, 1 revoked, 2 merged
  constraint public_id_token_is_unique primary key (bucket, token),
  -- Leads with the type, so that one index serves lookup and "newest first" alike.
  constraint public_id_key_is_unique   unique (type_id, key, bucket),
  constraint public_id_status_known    check (status between 0 and 2)
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
  constraint public_id_uuid_status_known    check (status between 0 and 2)
);

-- Another name of a mapped thing. A name belongs to one public ID for good, also after its end. No
-- foreign keys here either, for the same reason. "No namespace" is the empty text instead of null,
-- so that the primary key can hold it and lookups compare with "=".
create table coatcheck.alias (
  token     uuid     not null, -- whose name it is
  type_id   integer  not null,
  bucket    smallint not null, -- of the scheme and the value
  scheme    text     not null,
  value     text     not null,
  namespace text     not null, -- of a client ID: 'n:<text>', 'p:<principal>', or empty
  constraint alias_name_is_unique primary key (bucket, type_id, scheme, value, namespace),
  constraint alias_scheme_known   check (scheme in ('legacy', 'client', 'public'))
);
create index alias_by_token on coatcheck.alias (type_id, token);

-- How a public ID ended: for good. Its mapping stays, with a status other than 0, so that neither
-- the token nor the key is ever given out again.
create table coatcheck.ending (
  token    uuid        not null,
  survivor uuid,                 -- the token it was merged into: never one that ended itself
  ended_at timestamptz not null default now(),
  type_id  integer     not null,
  status   smallint    not null, -- as in public_id: 1 revoked, 2 merged
  reason   text,                 -- for authenticated callers only
  ended_by text        not null, -- a principal
  constraint ending_pkey                primary key (type_id, token),
  constraint ending_has_a_type          foreign key (type_id) references coatcheck.type,
  constraint ending_status_known        check (status in (1, 2)),
  constraint ending_merged_has_survivor check ((status = 2) = (survivor is not null))
);
-- Merging a survivor moves those that were merged into it before.
create index ending_by_survivor on coatcheck.ending (type_id, survivor) where survivor is not null;
