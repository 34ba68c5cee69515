-- Undo of the step "prepare", after the triggers and the column are gone. The archive stays: a legacy ID
-- never gets a second key.
-- Locks: an advisory lock; both outboxes, and a former child that still has our triggers, in access
-- exclusive mode. None on the customer's table.

-- Another session that replaces the functions now would bring some of them back (FunctionTable).
select pg_advisory_xact_lock(<lock_class_of_functions>, <lock_table>);

lock table <outbox_a>, <outbox_b> in access exclusive mode;

-- What waits is brought first; the undo tries again, as for a lock.
do <body> begin
  if exists (select from <outbox_a>) or exists (select from <outbox_b>) then
    raise exception 'mappings wait in the outbox' using errcode = 'lock_not_available';
  end if;
end <body>;

drop function if exists <on_insert>(), <on_inserted>(), <on_archived>(), <on_reused>(),
  <on_delete>(), <on_update>(), <on_refused>(), <mint>(), <fill>(bigint[], bigint[]);

-- The functions of children that are gone, with the triggers that a child may still have.
do <body>
declare
  left_over regprocedure;
begin
  for left_over in
    select p.oid from pg_proc p
     where p.pronamespace = '<schema>'::regnamespace and position(<run> in p.prosrc) > 0
  loop
    execute format('drop function %s cascade', left_over);
  end loop;
end <body>;

-- Two concurrent grants on our schema would fail.
select pg_advisory_xact_lock(<lock_class>, 0);

-- The rights of the owners, also of former ones and of those of children, unless the owner has another
-- table of a run. Roles that may read our other tables have theirs from someone else.
do <body>
declare
  given record;
begin
  for given in
    with ours as (
      select oid, nspowner, nspacl from pg_namespace where oid = '<schema>'::regnamespace),
    rights as (
      select 'schema <schema>' as what, x.*,
             exists (select from pg_proc p
                      where p.pronamespace = o.oid and p.proowner = x.grantee) as is_used
        from ours o, aclexplode(o.nspacl) as x
      union all
      select c.oid::regclass::text, x.*, false
        from pg_class c, aclexplode(c.relacl) as x where c.oid = <'archive'>::regclass)
    select r.what, r.privilege_type, r.grantee::regrole as role
      from rights r, ours o
     where r.privilege_type in ('USAGE', 'SELECT') and not r.is_grantable and not r.is_used
       and r.grantee not in (0, o.nspowner)
       and not exists (
         select from pg_class c, aclexplode(c.relacl) as x
          where c.relnamespace = o.oid and x.grantee = r.grantee
            and not starts_with(c.relname, 'archive_'))
  loop
    execute format('revoke %s on %s from %s', given.privilege_type, given.what, given.role);
  end loop;
end <body>;

drop sequence if exists <mint_seq>, <switch>;

drop table if exists <outbox_a>, <outbox_b>;

-- If the table is gone, nothing else has removed it.
delete from <schema>.checkpoint where run = <run>;
