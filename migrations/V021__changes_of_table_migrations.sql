-- An instance hears of a table migration that is to be carried on, instead of looking for one all
-- the time. An older instance passes over kinds of changes that it doesn't know.
alter table coatcheck.change drop constraint change_kind_known;
alter table coatcheck.change add constraint change_kind_known
  check (kind in ('ending', 'api_key', 'type', 'table_migration'));
