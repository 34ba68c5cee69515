-- Sign-ins to the console. Rows are few: those that are over are deleted at the next sign-in.
create table coatcheck.console_session (
  hash       bytea       not null,
  key_id     text        not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint console_session_pkey            primary key (hash),
  constraint console_session_hash_is_sha_256 check (octet_length(hash) = 32)
);

comment on table coatcheck.console_session is
  'Who is signed in to the console. A session ends with its API key.';
comment on column coatcheck.console_session.hash is
  'SHA-256 of the cookie, which only the browser has.';
comment on column coatcheck.console_session.key_id is 'Public part of the API key.';
