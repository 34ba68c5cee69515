-- The words that docs/words.md has for them.
alter table coatcheck.table_migration rename column knobs to throttle_settings;
alter table coatcheck.table_migration rename column imported_place to imported_position;
