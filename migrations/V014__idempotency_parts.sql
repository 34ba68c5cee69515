-- Answers expire by whole parts: nine tables that are used in turn, and a truncate in the place of
-- deletes. The number of a part rises for ever; its table is that number modulo nine.
create table coatcheck.idempotency_turn (
  part     bigint      not null, -- the one that new answers go to
  began_at timestamptz not null default now(),
  only_row boolean     not null default true,
  constraint idempotency_turn_pkey primary key (only_row),
  constraint idempotency_turn_is_one_row check (only_row)
);

-- Six earlier parts are looked into, so that they have a number above zero.
insert into coatcheck.idempotency_turn (part) values (6);

create table coatcheck.idempotency_0 (
  digest       uuid     not null, -- of the owner and the key: half of a SHA-256
  status       integer  not null,
  bucket       smallint not null, -- of the owner and the key
  request_hash bytea    not null,
  response     text     not null, -- the body
  constraint idempotency_0_key_is_unique primary key (digest, bucket)
);

do $$
begin
  for part in 1..8 loop
    execute format(
      'create table coatcheck.idempotency_%1$s (
         like coatcheck.idempotency_0,
         constraint idempotency_%1$s_key_is_unique primary key (digest, bucket))',
      part);
  end loop;
end $$;

-- Instances of the version before may be at work: what they commit until here is carried over.
lock table coatcheck.idempotency in access exclusive mode;

-- What has n hours left goes to part n / 4, which is looked into for at least as long.
do $$
begin
  for part in 0..5 loop
    execute format(
      $insert$
        insert into coatcheck.idempotency_%1$s (digest, status, bucket, request_hash, response)
        select encode(substr(sha256(
                 convert_to(owner, 'UTF8') || '\x00'::bytea || convert_to(key, 'UTF8')), 1, 16),
                 'hex')::uuid,
               status, bucket, request_hash, response
          from coatcheck.idempotency
         where expires_at > now()
           and least(5, floor(extract(epoch from expires_at - now()) / (4 * 3600))) = %1$s
      $insert$,
      part);
  end loop;
end $$;

drop table coatcheck.idempotency;
