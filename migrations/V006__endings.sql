-- How a public ID ended: for good. Its mapping stays, with a status other than 0, so that neither
-- the token nor the key is ever given out again.
create table coatcheck.ending (
  token    uuid        not null,
  survivor uuid,                 -- the token it was merged into: never one that ended itself
  ended_at timestamptz not null default now(),
  type_id  integer     not null,
  status   smallint    not null, -- as in public_id: 1 revoked, 2 merged
  reason   text,                 -- for authenticated callers only
  ended_by text        not null, -- a principal
  constraint ending_pkey primary key (token),
  constraint ending_status_known check (status in (1, 2)),
  constraint ending_merged_has_survivor check ((status = 2) = (survivor is not null))
);
-- Merging a survivor moves those that were merged into it before.
create index ending_by_survivor on coatcheck.ending (survivor) where survivor is not null;

alter table coatcheck.public_id
  add constraint public_id_status_known check (status between 0 and 2);
alter table coatcheck.public_id_uuid
  add constraint public_id_uuid_status_known check (status between 0 and 2);
