-- What in its source a run waits for: the statement, the event, and the sessions in its way.
alter table coatcheck.table_migration add column waits_for jsonb;
