-- Gives the functions that write to the table to the table's owner, as whom they run; also after the
-- owner has changed. A member of the owner role may do that only if the owner may create functions in our
-- schema, so that right is granted for the moment.
-- Locks: an advisory lock until the commit. None on the customer's table.

-- Two concurrent grants on our schema would fail.
select pg_advisory_xact_lock(<lock_class>, 0);

do <body>
declare
  owner name := (select pg_get_userbyid(relowner) from pg_class where oid = <oid>);
  may_create boolean := has_schema_privilege(owner, '<schema>', 'create');
  signature text;
begin
  execute format('grant usage on schema <schema> to %I', owner);
  execute format('grant select on %s to %I', <'archive'>::regclass, owner);
  if not may_create then
    execute format('grant create on schema <schema> to %I', owner);
  end if;
  foreach signature in array array[<'fill'> || '(bigint[], bigint[])', <'on_reused'> || '()'] loop
    execute format('alter function %s owner to %I', signature::regprocedure, owner);
  end loop;
  if not may_create then
    execute format('revoke create on schema <schema> from %I', owner);
  end if;
end <body>;
