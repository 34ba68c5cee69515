-- Step "child-column": the twin of a child's column, which refers to the new keys, and its triggers at
-- once. From the commit on each of the two columns follows the other. The twin may be null: a row can
-- come before the row that it refers to. What the first trigger can't see yet is filled at the end of
-- the transaction, and a row that is not right by then is refused.
-- Locks: the child in access exclusive mode until the commit, without any scan.

lock table <child> in access exclusive mode;

alter table <child> add column <ref> bigint;

-- Who may use only some columns may use the twin like the column itself.
do <body>
declare
  given record;
begin
  for given in
    select x.privilege_type as privilege, x.is_grantable,
           case x.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(x.grantee)) end
             as grantee
      from pg_attribute a, aclexplode(a.attacl) as x
     where a.attrelid = <child_oid>::oid and a.attnum = <child_attnum>::int2
  loop
    execute format('grant %s (%I) on %s to %s%s', given.privilege, <'ref_name'>,
                   <child_oid>::oid::regclass, given.grantee,
                   case when given.is_grantable then ' with grant option' else '' end);
  end loop;
end <body>;

create trigger <t_ref> before insert or update on <child>
  for each row execute function <on_ref>();

create constraint trigger <t_ref_late> after insert or update on <child>
  deferrable initially deferred
  for each row when ((new.<fk> is null) <> (new.<ref> is null))
  execute function <on_ref_late>();

-- They fire for writers that call themselves replicas too.
alter table <child> enable always trigger <t_ref>;
alter table <child> enable always trigger <t_ref_late>;
