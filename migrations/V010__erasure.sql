-- Erased public IDs. Only a task holds a key and legacy IDs, until the sources have deleted them.
create table coatcheck.erasure (
  token       uuid        not null,
  erased_at   timestamptz not null default now(),
  complete_at timestamptz not null,
  type_id     integer     not null,
  constraint erasure_pkey       primary key (token, type_id),
  constraint erasure_has_a_type foreign key (type_id) references coatcheck.type
);

comment on table coatcheck.erasure is
  'When public IDs were erased. Their mappings stay with a key that no row can have, so that '
  'their tokens are never used again.';
comment on column coatcheck.erasure.complete_at is
  'When the last stored response with the public ID is gone, and no source has anything left; '
  'known once coatcheck.erasure_task has no row for it.';

create table coatcheck.erased_alias (
  hash    uuid    not null,
  type_id integer not null,
  constraint erased_alias_pkey       primary key (type_id, hash),
  constraint erased_alias_has_a_type foreign key (type_id) references coatcheck.type
);

comment on table coatcheck.erased_alias is
  'A suppression list: aliases of erased public IDs, which answer 410 and are never given again. '
  'A legacy ID can be guessed from its hash.';
comment on column coatcheck.erased_alias.hash is
  'Half of the SHA-256 of the type''s salt, the scheme, the value and the namespace.';

create table coatcheck.erasure_task (
  token      uuid     not null,
  key        bigint   not null,
  type_id    integer  not null,
  source     text     not null,
  legacy_ids bigint[] not null,
  constraint erasure_task_pkey           primary key (token, type_id, source),
  constraint erasure_task_has_an_erasure
    foreign key (token, type_id) references coatcheck.erasure
);

comment on table coatcheck.erasure_task is
  'What a source of table migrations has to delete of an erased public ID. A row is deleted with '
  'the answer of the source.';
comment on column coatcheck.erasure_task.source is 'Its name in requests.';
