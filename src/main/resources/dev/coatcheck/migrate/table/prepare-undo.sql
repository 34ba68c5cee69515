-- Undo of the step "prepare", after the triggers and the column are gone. The archive stays: a legacy ID
-- never gets a second key.
-- Locks: both outboxes, and a former child that still has our triggers, in access exclusive mode. None on
-- the customer's table.

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

-- The owner's right, unless the owner is our role or has another table of a run.
do <body>
declare
  owner name := (select pg_get_userbyid(relowner) from pg_class where oid = <oid>);
  ours oid := '<schema>'::regnamespace;
begin
  if not pg_has_role(owner, (select nspowner from pg_namespace where oid = ours), 'usage') then
    execute format('revoke select on %s from %I', <'archive'>::regclass, owner);
    if not exists (select from pg_proc
                    where pronamespace = ours and pg_get_userbyid(proowner) = owner) then
      execute format('revoke usage on schema <schema> from %I', owner);
    end if;
  end if;
end <body>;

drop sequence if exists <mint_seq>, <switch>;

drop table if exists <outbox_a>, <outbox_b>;

-- If the table is gone, nothing else has removed it.
delete from <schema>.checkpoint where run = <run>;
