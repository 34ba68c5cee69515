-- Undo of the step "child-key".
-- Locks: the child and the customer's table in access exclusive mode until the commit, in the order of
-- their OIDs.

do <body>
declare
  tables text := (select string_agg(c.oid::regclass::text, ', ' order by c.oid) from pg_class c
                   where c.oid in (<oid>::oid, <child_oid>::oid));
begin
  execute 'lock table ' || tables || ' in access exclusive mode';
end <body>;

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
