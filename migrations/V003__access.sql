create table coatcheck.api_key (
  key_id         text        not null,
  secret_hash    bytea       not null,
  name           text        not null,
  principal      text        not null,
  scopes         text[]      not null,
  types          text[],
  ranges         text[],
  limit_requests integer,
  limit_seconds  integer,
  made_by        text,
  successor      text,
  created_at     timestamptz not null default now(),
  expires_at     timestamptz,
  revoked_at     timestamptz,
  version        integer     not null default 1,
  constraint api_key_pkey                primary key (key_id),
  constraint api_key_has_one_predecessor unique (successor),
  constraint api_key_hash_is_sha256      check (octet_length(secret_hash) = 32),
  constraint api_key_limit_is_whole      check ((limit_requests is null) = (limit_seconds is null))
);
create index api_key_by_age on coatcheck.api_key (created_at, key_id);
create index api_key_by_maker on coatcheck.api_key (made_by) where made_by is not null;
create index api_key_by_principal on coatcheck.api_key (principal, created_at, key_id);

comment on table coatcheck.api_key is 'API keys, the revoked ones too.';
comment on column coatcheck.api_key.secret_hash is
  'SHA-256 of the whole API key, whose 190 random bits make a slow hash pointless.';
comment on column coatcheck.api_key.principal is
  'Who acts: the owner of client IDs and stored responses. Survives the rotation of API keys.';
comment on column coatcheck.api_key.types is 'Names of the types that it may use. Null: all.';
comment on column coatcheck.api_key.ranges is
  'Where its requests may come from, in CIDR notation. Null: anywhere.';
comment on column coatcheck.api_key.limit_requests is
  'How many requests are allowed in limit_seconds. Null: the default.';
comment on column coatcheck.api_key.made_by is
  'ID of the API key that created or rotated this one. Null: made in the database.';
comment on column coatcheck.api_key.successor is 'ID of the API key that this was rotated into.';
comment on column coatcheck.api_key.expires_at is 'Null: never.';
comment on column coatcheck.api_key.version is 'Rises with each change, for If-Match.';
comment on index coatcheck.api_key_by_age is 'Lists of keys, in pages.';
comment on index coatcheck.api_key_by_maker is
  'The successors that a key made: they end with it, however long the chain is.';
comment on index coatcheck.api_key_by_principal is
  'Whether any key ever had a principal, and the keys of one.';

-- Apart from the keys, whose rows are versioned and cached. Written at most once a minute for each.
create table coatcheck.api_key_use (
  key_id       text        not null,
  last_used_at timestamptz not null,
  constraint api_key_use_pkey primary key (key_id)
);

comment on table coatcheck.api_key_use is 'When API keys were last used, to the minute.';

-- Stored responses expire by whole parts: nine tables that are used in turn, and a truncate in the
-- place of deletes. The number of a part rises for good; its table is that number modulo nine. Six
-- earlier parts are looked into, so the first one is number 6.
create table coatcheck.idempotency_turn (
  part     bigint      not null,
  began_at timestamptz not null default now(),
  only_row boolean     not null default true,
  constraint idempotency_turn_pkey       primary key (only_row),
  constraint idempotency_turn_is_one_row check (only_row)
);
insert into coatcheck.idempotency_turn (part) values (6);

comment on table coatcheck.idempotency_turn is
  'One row: which part of the stored responses is written. A part lasts four hours.';
comment on column coatcheck.idempotency_turn.part is
  'Rises for good; the table of a part is idempotency_<part modulo 9>.';

do $$
begin
  for part in 0..8 loop
    execute format(
      $table$
        create table coatcheck.idempotency_%1$s (
          digest       uuid     not null,
          status       integer  not null,
          bucket       smallint not null,
          request_hash bytea    not null,
          response     text     not null,
          constraint idempotency_%1$s_key_is_unique primary key (digest, bucket)
        );
        comment on table coatcheck.idempotency_%1$s is
          'Stored responses of a part, each committed with what its request did.';
        comment on column coatcheck.idempotency_%1$s.digest is
          'Half of the SHA-256 of the principal and the Idempotency-Key.';
        comment on column coatcheck.idempotency_%1$s.bucket is 'Of the same, 0 to 1023.';
        comment on column coatcheck.idempotency_%1$s.request_hash is
          'SHA-256 of the request: another request with this Idempotency-Key is refused.';
        comment on column coatcheck.idempotency_%1$s.response is 'The body.';
      $table$,
      part);
  end loop;
end $$;
