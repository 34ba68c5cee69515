-- Gives the function that writes to a child to the child's owner, as whom it runs; see give-to-owner.sql.
-- The owner may call the other two, because creating or attaching a partition creates their triggers on
-- it. No other role may call any of them, including former owners.
-- Locks: none on the child.

-- Two concurrent grants on our schema would fail.
select pg_advisory_xact_lock(<lock_class>, 0);

do <body>
declare
  owner name := (select pg_get_userbyid(relowner) from pg_class where oid = <child_oid>);
  may_create boolean := has_schema_privilege(owner, '<schema>', 'create');
  of_trigger regprocedure;
  other text;
begin
  foreach of_trigger in array array[<'on_ref'> || '()', <'on_ref_late'> || '()']::regprocedure[] loop
    for other in
      select case x.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(x.grantee)) end
        from pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as x
       where p.oid = of_trigger and x.grantee <> p.proowner
    loop
      execute format('revoke all on function %s from %s', of_trigger, other);
    end loop;
    execute format('grant execute on function %s to %I', of_trigger, owner);
  end loop;
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
