-- Undo of the step "child-key".
-- Locks: those of lock.sql, which is sent before: the child, its partitions and the customer's table in
-- access exclusive mode until the commit.

alter table <child> drop constraint if exists <ref_key>;

do <body>
declare
  leaf regclass;
begin
  for leaf in
    select f.conrelid::regclass from pg_constraint f
     where f.conname = <'ref_key_name'> and f.confrelid = <oid>::oid and f.conparentid = 0
  loop
    execute format('alter table %s drop constraint %I', leaf, <'ref_key_name'>);
  end loop;
end <body>;

delete from <schema>.unbound_foreign_key where run = <run> and name = <'ref_key_name'>;
