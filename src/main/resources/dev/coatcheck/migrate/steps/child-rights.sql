-- Gives the function that writes to a child to the child's owner, as whom it runs; see give-to-owner.sql.
-- Nobody else may call the functions.
-- Locks: none on the child.

revoke all on function <on_ref>() from public;
revoke all on function <on_ref_late>() from public;

-- Two grants on our schema at once would fail.
select pg_advisory_xact_lock(<lock_class>, 0);

do <body>
declare
  owner name := (select pg_get_userbyid(relowner) from pg_class where oid = <child_oid>);
  may_create boolean := has_schema_privilege(owner, '<schema>', 'create');
begin
  execute format('grant usage on schema <schema> to %I', owner);
  if not may_create then
    execute format('grant create on schema <schema> to %I', owner);
  end if;
  execute format('alter function %s owner to %I',
                 (<'fill_ref'> || '(regclass, tid[], bigint[], boolean)')::regprocedure, owner);
  if not may_create then
    execute format('revoke create on schema <schema> from %I', owner);
  end if;
end <body>;
