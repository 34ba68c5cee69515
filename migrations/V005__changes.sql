-- A change takes its number from the head in the last statement of its transaction. The lock on
-- that row makes the numbers gapless and in the order of commits, so a reader that has read up to n
-- has missed nothing.
create table coatcheck.change_head (
  only_row   boolean     not null default true,
  number     bigint      not null,
  audited    bigint      not null default 0,
  audited_at timestamptz not null default '1970-01-01T00:00:00Z',
  constraint change_head_pkey       primary key (only_row),
  constraint change_head_is_one_row check (only_row)
);
insert into coatcheck.change_head (number) values (0);

comment on table coatcheck.change_head is
  'One row: the numbers of the last change and of the last entry of the audit.';
comment on column coatcheck.change_head.audited_at is
  'Time of the last entry of the audit. The next one is never before it.';

create table coatcheck.change (
  number     bigint      not null,
  created_at timestamptz not null default now(),
  kind       text        not null,
  subject    text        not null,
  constraint change_pkey       primary key (number),
  constraint change_kind_known check (kind in ('ending', 'alias', 'api_key', 'type', 'table_migration'))
);

comment on table coatcheck.change is
  'The change feed: what every instance has to hear of. A row is deleted after an hour.';
comment on column coatcheck.change.number is 'Without gaps, in the order of commits.';
comment on column coatcheck.change.subject is
  'What changed. ending: the number of the type and the token as a UUID, or "imported"; alias: the '
  'number of the type, the scheme, the namespace and the value of one that was removed; api_key: '
  'its ID; type, table_migration: its number.';
