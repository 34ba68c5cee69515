-- The mapping, and the hot rows of the whole product: fixed width, widest column first, nothing
-- nullable. Every unique rule holds the bucket, so that the table can be distributed by it. No
-- foreign key to the type: types are never deleted, and every insert would lock the same type row.
create table coatcheck.public_id (
  key        bigint      not null,
  created_at timestamptz not null default now(),
  token      uuid        not null,
  type_id    integer     not null,
  bucket     smallint    not null, -- also the lowest ten bits of the token
  status     smallint    not null default 0, -- 0 active
  constraint public_id_token_is_unique primary key (bucket, token),
  -- Leads with the type, so that one index serves lookup and "newest first" alike.
  constraint public_id_key_is_unique   unique (type_id, key, bucket)
);

create table coatcheck.public_id_uuid (
  key        uuid        not null,
  token      uuid        not null,
  created_at timestamptz not null default now(),
  type_id    integer     not null,
  bucket     smallint    not null,
  status     smallint    not null default 0,
  constraint public_id_uuid_token_is_unique primary key (bucket, token),
  constraint public_id_uuid_key_is_unique   unique (type_id, key, bucket)
);
