-- The answer that a request with an Idempotency-Key got, committed together with what it did.
create table coatcheck.idempotency (
  expires_at   timestamptz not null,
  status       integer     not null,
  bucket       smallint    not null, -- of the owner and the key
  owner        text        not null, -- the principal, which survives the rotation of API keys
  key          text        not null,
  request_hash bytea       not null,
  response     text        not null, -- the body
  constraint idempotency_key_is_unique primary key (bucket, owner, key)
);
create index idempotency_by_expiry on coatcheck.idempotency (expires_at);
