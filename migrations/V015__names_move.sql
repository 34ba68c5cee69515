-- A table and its columns can be renamed while a run is on them: table_schema, table_name,
-- key_column and created_at_column are their names now, and these stay.
alter table coatcheck.table_migration
  add column first_schema      text,                       -- our objects are called by these two
  add column first_name        text,
  add column key_attnum        integer not null default 0, -- 0: planned before it was kept
  add column created_at_attnum integer not null default 0, -- 0: none
  add column application_path  text    not null default '"$user", "public"';
update coatcheck.table_migration set first_schema = table_schema, first_name = table_name;
alter table coatcheck.table_migration
  alter column first_schema set not null,
  alter column first_name set not null,
  alter column key_attnum drop default,
  alter column created_at_attnum drop default,
  alter column application_path drop default;

-- Names can be swapped.
drop index coatcheck.table_migration_one_per_table;
create unique index table_migration_one_per_table
  on coatcheck.table_migration (source, table_oid) where occupies;
