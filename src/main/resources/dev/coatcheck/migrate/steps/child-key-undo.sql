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
