-- Types that are retired: they get no new public IDs.
alter table coatcheck.type add column retired_at timestamptz;

comment on column coatcheck.type.retired_at is
  'Since when nothing mints public IDs of the type; those that it has keep working. Null: in use.';
