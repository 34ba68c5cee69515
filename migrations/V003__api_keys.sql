-- An API key. The secret is stored only as the SHA-256 of the whole key, whose 190 random bits
-- make a slow hash pointless.
create table coatcheck.api_key (
  key_id       text        not null,
  secret_hash  bytea       not null,
  name         text        not null,
  principal    text        not null, -- who acts; survives the rotation of keys
  scopes       text[]      not null,
  created_at   timestamptz not null default now(),
  expires_at   timestamptz,
  revoked_at   timestamptz,
  constraint api_key_pkey primary key (key_id),
  constraint api_key_hash_is_sha256 check (octet_length(secret_hash) = 32)
);
