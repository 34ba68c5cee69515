create table coatcheck.legacy_hit (
  count   bigint  not null,
  day     date    not null,
  type_id integer not null,
  constraint legacy_hit_pkey       primary key (type_id, day),
  constraint legacy_hit_has_a_type foreign key (type_id) references coatcheck.type
);

comment on table coatcheck.legacy_hit is
  'How often legacy IDs are looked up, per type and day: what to know before a sunset.';
comment on column coatcheck.legacy_hit.day is 'In UTC.';
