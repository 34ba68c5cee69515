-- Numbered by the head of the change feed, whose lock puts entries into the order of commits. Times
-- follow the numbers, so a span of time is a span of numbers.
create table coatcheck.audit_entry (
  number     bigint      not null,
  at         timestamptz not null,
  actor      text        not null,
  key_id     text,
  address    text,
  request_id text,
  action     text        not null,
  subjects   text[]      not null,
  detail     jsonb       not null,
  constraint audit_entry_pkey             primary key (number),
  constraint audit_entry_detail_is_object check (jsonb_typeof(detail) = 'object')
);
create index audit_entry_by_time on coatcheck.audit_entry (at, number);
create index audit_entry_by_actor on coatcheck.audit_entry (actor, number);
create index audit_entry_by_action on coatcheck.audit_entry (action, number);
-- Without a list of pending entries, which some append would have to empty while all others wait.
create index audit_entry_by_subject on coatcheck.audit_entry using gin (subjects)
  with (fastupdate = off);

comment on table coatcheck.audit_entry is
  'Who changed what, each entry committed with its change. Only ever appended to, and pruned.';
comment on column coatcheck.audit_entry.number is 'Without gaps, in the order of commits.';
comment on column coatcheck.audit_entry.at is 'Never before that of an entry with a lower number.';
comment on column coatcheck.audit_entry.actor is
  'The principal of an API key, or "operator" for a command in the database.';
comment on column coatcheck.audit_entry.key_id is 'Public part of the API key. Null: none was used.';
comment on column coatcheck.audit_entry.address is 'Of the client.';
comment on column coatcheck.audit_entry.subjects is
  'What was changed, by name or ID: each public ID of a batch, the type, the segment …';
comment on column coatcheck.audit_entry.detail is
  'What changed. Never keys of rows, values of aliases or secrets.';
comment on index coatcheck.audit_entry_by_time is 'The numbers of a span of time.';
comment on index coatcheck.audit_entry_by_actor is 'What an actor did.';
comment on index coatcheck.audit_entry_by_action is 'When something was done.';
comment on index coatcheck.audit_entry_by_subject is 'What happened to a subject.';
