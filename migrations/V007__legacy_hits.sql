-- Look-ups of legacy IDs per type and day, so that a sunset is a decision and not a guess.
create table coatcheck.legacy_hit (
  count   bigint  not null,
  day     date    not null, -- in UTC
  type_id integer not null,
  constraint legacy_hit_pkey       primary key (type_id, day),
  constraint legacy_hit_has_a_type foreign key (type_id) references coatcheck.type
);
