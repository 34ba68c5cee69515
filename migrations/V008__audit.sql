-- Numbered by the head of the change feed, whose lock puts entries into the order of commits.
create table coatcheck.audit_entry (
  number       bigint      not null,
  at           timestamptz not null,
  actor        text        not null,
  key_id       text,
  address      text,
  request_id   text,
  action       text        not null,
  subject_kind text        not null,
  subject      text        not null,
  detail       jsonb       not null,
  constraint audit_entry_pkey             primary key (number),
  constraint audit_entry_detail_is_object check (jsonb_typeof(detail) = 'object')
);
create index audit_entry_by_subject on coatcheck.audit_entry (subject, number);
create index audit_entry_by_actor on coatcheck.audit_entry (actor, number);

comment on table coatcheck.audit_entry is
  'Who changed what, each entry committed with its change. Only ever appended to.';
comment on column coatcheck.audit_entry.number is 'Without gaps, in the order of commits.';
comment on column coatcheck.audit_entry.actor is
  'The principal of an API key, or "operator" for a command in the database.';
comment on column coatcheck.audit_entry.key_id is 'Public part of the API key. Null: none was used.';
comment on column coatcheck.audit_entry.address is 'Of the client.';
comment on column coatcheck.audit_entry.detail is
  'What changed. Never keys of rows, values of aliases or secrets.';
comment on index coatcheck.audit_entry_by_subject is 'What happened to a subject.';
comment on index coatcheck.audit_entry_by_actor is 'What an actor did.';
