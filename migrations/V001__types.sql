create table coatcheck.type (
  type_id      integer     generated always as identity,
  name         text        not null,
  prefix       text        not null,
  key_kind     text        not null,
  generate     text        not null,
  layout       text,
  tag          text,
  salt         bytea       not null,
  client_names text        not null default 'shared',
  policies     jsonb       not null default '{}',
  created_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now(),
  version      integer     not null default 1,
  constraint type_pkey                primary key (type_id),
  constraint type_name_is_unique      unique (name),
  constraint type_prefix_is_unique    unique (prefix),
  constraint type_salt_is_16_bytes    check (octet_length(salt) = 16),
  constraint type_key_kind_known      check (key_kind in ('bigint', 'uuid')),
  constraint type_generate_known      check (generate in ('snowflake', 'segment', 'uuidv7', 'none')),
  constraint type_generates_its_kind  check (
    generate = 'none' or (key_kind = 'uuid') = (generate = 'uuidv7')),
  constraint type_layout_is_of_snowflakes check ((layout is not null) = (generate = 'snowflake')),
  constraint type_tag_is_of_segments  check ((tag is not null) = (generate = 'segment')),
  constraint type_client_names_known  check (client_names in ('required', 'principal', 'shared')),
  constraint type_policies_are_an_object check (jsonb_typeof(policies) = 'object'),
  constraint type_redirect_status_known
    check (policies #>> '{redirect,status}' in ('301', '302', '307', '308')),
  constraint type_legacy_status_known check (policies #>> '{legacy,status}' in ('301', '308')),
  constraint type_public_scheme_known
    check (policies #>> '{public_rule,scheme}' in ('hashids', 'sqids', 'typeid', 'uuid')),
  constraint type_on_outage_known     check (policies ->> 'on_outage' in ('serve_stale', 'refuse'))
);

comment on table coatcheck.type is
  'Types: each is a kind of public ID with its policies. A type is never deleted.';
comment on column coatcheck.type.type_id is 'What rows of other tables store instead of the name.';
comment on column coatcheck.type.prefix is 'In front of the public IDs: <prefix>_<24 characters>.';
comment on column coatcheck.type.key_kind is
  'What its keys are. Its public IDs are in public_id (bigint) or public_id_uuid (uuid).';
comment on column coatcheck.type.generate is
  'Who makes the key of a mint that brings none; none: each mint brings its key.';
comment on column coatcheck.type.layout is
  'Of generated Snowflakes: the bit widths and the epoch. Null: it generates no Snowflakes.';
comment on column coatcheck.type.tag is
  'Of the segment that keys come from. Null: they come from no segment.';
comment on column coatcheck.type.salt is
  'Mixed into the buckets of keys and aliases, so that a bucket says nothing about a key.';
comment on column coatcheck.type.client_names is
  'The namespace of a client ID that comes without one: required: refused; principal: the '
  'caller''s own; shared: that of all callers.';
comment on column coatcheck.type.policies is
  'The redirect, legacy IDs, ended links, URL templates, older public IDs and outages, as requests '
  'and answers have them, because they are read and replaced as a whole. What is missing has its '
  'default.';
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
