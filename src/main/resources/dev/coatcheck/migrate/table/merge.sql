-- Step "merge-foreign-keys": adds the foreign keys to partitioned tables that their partitions already
-- have. These are the same and validated, so nothing is scanned.
-- Locks: those of lock.sql, which is sent before: the partitioned tables, their partitions and the customer's
-- table in share row exclusive mode until the commit.

do <body>
declare
  one record;
begin
  for one in
    delete from <schema>.unbound_foreign_key where run = <run>
    returning relation, name, definition, remark
  loop
    if exists (select from pg_class c where c.oid = one.relation) then
      execute format('alter table %s add constraint %I %s', one.relation, one.name, one.definition);
      execute format('comment on constraint %I on %s is %L', one.name, one.relation, one.remark);
    end if;
  end loop;
end <body>;
