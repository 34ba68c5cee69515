create table coatcheck.type (
  type_id                  integer generated always as identity,
  name                     text        not null,
  prefix                   text        not null,
  key_scheme               text        not null,
  key_layout               text        not null,
  salt                     bytea       not null,
  client_names             text        not null default 'shared',
  redirect_template        text,
  redirect_status          integer     not null,
  redirect_max_age_seconds integer     not null,
  redirect_public          boolean     not null,
  redirect_expose_key      boolean     not null,
  legacy_status            integer,
  legacy_public            boolean     not null default false,
  legacy_max_id            bigint,
  legacy_deprecated_at     timestamptz,
  legacy_sunset_at         timestamptz,
  legacy_max_age_seconds   integer     not null default 0,
  url_templates            text[]      not null default '{}',
  public_scheme            text,
  public_text_prefix       text        not null default '',
  public_type_name         text        not null default '',
  public_salt              text        not null default '',
  public_alphabet          text        not null default '',
  public_min_length        integer     not null default 0,
  public_max_length        integer     not null default 0,
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
  constraint type_redirect_status_known check (redirect_status in (301, 302, 307, 308)),
  constraint type_legacy_status_known check (legacy_status in (301, 308)),
  constraint type_public_scheme_known
    check (public_scheme in ('pattern', 'hashids', 'sqids', 'typeid', 'uuid')),
  constraint type_on_outage_known     check (on_outage in ('serve_stale', 'refuse'))
);

comment on table coatcheck.type is
  'Types: each is a kind of public ID with its policies. A type is never deleted.';
comment on column coatcheck.type.type_id is 'What rows of other tables store instead of the name.';
comment on column coatcheck.type.prefix is 'In front of the public IDs: <prefix>_<24 characters>.';
comment on column coatcheck.type.key_layout is
  'Of Snowflake keys: the bit widths and the epoch. Unused with other key schemes.';
comment on column coatcheck.type.salt is
  'Mixed into the buckets of keys and aliases, so that a bucket says nothing about a key.';
comment on column coatcheck.type.client_names is
  'The namespace of a client ID that comes without one: required: refused; principal: the '
  'caller''s own; shared: that of all callers.';
comment on column coatcheck.type.redirect_template is
  'The target of /r/{id}. Null: the type has no redirect.';
comment on column coatcheck.type.redirect_public is
  'Anyone may follow the redirect; otherwise it looks like an unknown ID.';
comment on column coatcheck.type.redirect_expose_key is 'The key may appear in a public redirect.';
comment on column coatcheck.type.legacy_status is
  'Of the redirects of legacy IDs. Null: there are none.';
comment on column coatcheck.type.legacy_max_id is
  'The highest legacy ID that was ever given. Null: no limit.';
comment on column coatcheck.type.legacy_sunset_at is 'From then on legacy IDs answer 410.';
comment on column coatcheck.type.url_templates is
  'Which paths of the application''s URLs hold legacy IDs: /orders/{legacy:order}.';
comment on column coatcheck.type.public_scheme is
  'Of the public IDs of an older system: pattern, with a row each, or the rule that decodes them. '
  'Null: there are none.';
comment on column coatcheck.type.on_outage is
  'While Postgres can''t be asked: serve_stale answers from memory, refuse answers 503.';
comment on column coatcheck.type.stale_seconds_max is 'For how long serve_stale does so.';
comment on column coatcheck.type.version is 'Goes up by one with every change.';

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

comment on function coatcheck.bucket_of_digest(bytea) is
  'The bucket, 0 to 1023: the first ten bits of a SHA-256.';
comment on function coatcheck.bucket_of_key(bytea, bigint) is
  'The bucket of a key, as the gateway computes it.';
comment on function coatcheck.bucket_of_key(bytea, uuid) is
  'The bucket of a key, as the gateway computes it.';
comment on function coatcheck.bucket_of_alias(bytea, text, text) is
  'The bucket of an alias, as the gateway computes it.';
