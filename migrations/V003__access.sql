-- An API key. The secret is stored only as the SHA-256 of the whole key, whose 190 random bits
-- make a slow hash pointless.
create table coatcheck.api_key (
  key_id      text        not null,
  secret_hash bytea       not null,
  name        text        not null,
  principal   text        not null, -- who acts; survives the rotation of keys
  scopes      text[]      not null,
  created_at  timestamptz not null default now(),
  expires_at  timestamptz,
  revoked_at  timestamptz,
  constraint api_key_pkey           primary key (key_id),
  constraint api_key_hash_is_sha256 check (octet_length(secret_hash) = 32)
);

-- Answers to Idempotency-Keys expire by whole parts: nine tables that are used in turn, and a
-- truncate in the place of deletes. The number of a part rises for good; its table is that number
-- modulo nine.
create table coatcheck.idempotency_turn (
  part     bigint      not null, -- the one that new answers go to
  began_at timestamptz not null default now(),
  only_row boolean     not null default true,
  constraint idempotency_turn_pkey       primary key (only_row),
  constraint idempotency_turn_is_one_row check (only_row)
);

-- Six earlier parts are looked into, so that they have a number of zero or above.
insert into coatcheck.idempotency_turn (part) values (6);

-- The answer that a request with an Idempotency-Key got, committed together with what it did.
do $$
begin
  for part in 0..8 loop
    execute format(
      'create table coatcheck.idempotency_%1$s (
         digest       uuid     not null, -- of the owner and the key: half of a SHA-256
         status       integer  not null,
         bucket       smallint not null, -- of the owner and the key
         request_hash bytea    not null,
         response     text     not null, -- the body
         constraint idempotency_%1$s_key_is_unique primary key (digest, bucket))',
      part);
  end loop;
end $$;
