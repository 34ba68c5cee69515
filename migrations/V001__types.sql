-- A type: one kind of thing that has public IDs. Retired, never deleted.
create table coatcheck.type (
  type_id                  integer generated always as identity,
  name                     text        not null,
  prefix                   text        not null,
  key_scheme               text        not null,
  key_layout               text        not null,
  salt                     bytea       not null, -- mixed into the bucket, so that a bucket says nothing about a key
  redirect_template        text,                 -- null: the type has no redirect
  redirect_status          integer     not null,
  redirect_max_age_seconds integer     not null,
  redirect_public          boolean     not null,
  redirect_expose_key      boolean     not null,
  created_at               timestamptz not null default now(),
  updated_at               timestamptz not null default now(),
  version                  integer     not null default 1,
  constraint type_pkey             primary key (type_id),
  constraint type_name_is_unique   unique (name),
  constraint type_prefix_is_unique unique (prefix),
  constraint type_salt_is_16_bytes check (octet_length(salt) = 16),
  constraint type_key_scheme_known check (key_scheme in ('snowflake', 'uuidv7'))
);

-- The bucket of a key, as the gateway computes it: the first ten bits of SHA-256(salt, key).
create function coatcheck.bucket_of_digest(digest bytea) returns smallint
  language sql immutable strict parallel safe
  return ((get_byte(digest, 0) << 2) | (get_byte(digest, 1) >> 6))::smallint;

create function coatcheck.bucket_of_key(salt bytea, key bigint) returns smallint
  language sql immutable strict parallel safe
  return coatcheck.bucket_of_digest(sha256(salt || int8send(key)));

create function coatcheck.bucket_of_key(salt bytea, key uuid) returns smallint
  language sql immutable strict parallel safe
  return coatcheck.bucket_of_digest(sha256(salt || uuid_send(key)));
