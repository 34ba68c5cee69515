-- A type: one kind of thing that has public IDs. Never deleted.
create table coatcheck.type (
  type_id                  integer generated always as identity,
  name                     text        not null,
  prefix                   text        not null,
  key_scheme               text        not null,
  key_layout               text        not null,
  salt                     bytea       not null, -- mixed into the bucket, so that a bucket says nothing about a key
  client_names             text        not null default 'shared',
  redirect_template        text,                 -- null: the type has no redirect
  redirect_status          integer     not null,
  redirect_max_age_seconds integer     not null,
  redirect_public          boolean     not null,
  redirect_expose_key      boolean     not null,
  legacy_status            integer,              -- null: legacy IDs are answered under /v1 only
  legacy_public            boolean     not null default false,
  legacy_max_id            bigint,               -- numbers above were never given; null: no limit
  legacy_deprecated_at     timestamptz,
  legacy_sunset_at         timestamptz,
  legacy_max_age_seconds   integer     not null default 0,
  url_templates            text[]      not null default '{}',
  public_scheme            text,                 -- null: no public IDs of an older system
  public_text_prefix       text        not null default '',
  public_type_name         text        not null default '', -- of TypeIDs
  public_salt              text        not null default '', -- of Hashids
  public_alphabet          text        not null default '',
  public_min_length        integer     not null default 0,
  public_max_length        integer     not null default 0,  -- of a pattern
  on_outage                text        not null default 'serve_stale',
  stale_seconds_max        integer     not null default 60,
  created_at               timestamptz not null default now(),
  updated_at               timestamptz not null default now(),
  version                  integer     not null default 1,
  constraint type_pkey                primary key (type_id),
  constraint type_name_is_unique      unique (name),
  constraint type_prefix_is_unique    unique (prefix),
  constraint type_salt_is_16_bytes    check (octet_length(salt) = 16),
  constraint type_key_scheme_known    check (key_scheme in ('snowflake', 'uuidv7')),
  constraint type_client_names_known  check (client_names in ('required', 'principal', 'shared')),
  constraint type_legacy_status_known check (legacy_status in (301, 308)),
  constraint type_public_scheme_known
    check (public_scheme in ('pattern', 'hashids', 'sqids', 'typeid', 'uuid')),
  constraint type_on_outage_known     check (on_outage in ('serve_stale', 'refuse'))
);

-- Buckets, as the gateway computes them: the first ten bits of a SHA-256.
create function coatcheck.bucket_of_digest(digest bytea) returns smallint
  language sql immutable strict parallel safe
  return ((get_byte(digest, 0) << 2) | (get_byte(digest, 1) >> 6))::smallint;

create function coatcheck.bucket_of_key(salt bytea, key bigint) returns smallint
  language sql immutable strict parallel safe
  return coatcheck.bucket_of_digest(sha256(salt || int8send(key)));

create function coatcheck.bucket_of_key(salt bytea, key uuid) returns smallint
  language sql immutable strict parallel safe
  return coatcheck.bucket_of_digest(sha256(salt || uuid_send(key)));

create function coatcheck.bucket_of_alias(salt bytea, scheme text, value text) returns smallint
  language sql immutable strict parallel safe
  return coatcheck.bucket_of_digest(
    sha256(salt || convert_to(scheme, 'UTF8') || '\x00'::bytea || convert_to(value, 'UTF8')));
