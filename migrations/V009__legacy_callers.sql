create table coatcheck.legacy_caller_sum (
  count   bigint  not null,
  day     date    not null,
  kind    text    not null,
  missed  bigint  not null,
  type_id integer not null,
  constraint legacy_caller_sum_pkey       primary key (type_id, day, kind),
  constraint legacy_caller_sum_has_a_type foreign key (type_id) references coatcheck.type,
  constraint legacy_caller_sum_kind_known
    check (kind in ('api_key', 'user_agent', 'referring_host', 'address_range'))
);

comment on table coatcheck.legacy_caller_sum is
  'The look-ups behind the callers of a type, a day and a kind. Its row is locked while their counts change.';
comment on column coatcheck.legacy_caller_sum.day is 'In UTC.';
comment on column coatcheck.legacy_caller_sum.kind is 'What tells callers apart.';
comment on column coatcheck.legacy_caller_sum.missed is
  'How much too low a count of a caller can be at most, because the memory of an instance was full.';

create table coatcheck.legacy_caller (
  caller  text    not null,
  count   bigint  not null,
  day     date    not null,
  error   bigint  not null,
  kind    text    not null,
  type_id integer not null,
  constraint legacy_caller_pkey      primary key (type_id, day, kind, caller),
  constraint legacy_caller_has_a_sum
    foreign key (type_id, day, kind) references coatcheck.legacy_caller_sum
);

comment on table coatcheck.legacy_caller is
  'Who looked up legacy IDs, per type and day: the 1,000 callers of each kind with the most.';
comment on column coatcheck.legacy_caller.caller is
  'ID of an API key, user agent, referring host or address range; what a client sent, made plain.';
comment on column coatcheck.legacy_caller.error is 'How much too high the count can be at most.';
