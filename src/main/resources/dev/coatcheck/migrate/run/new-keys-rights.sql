-- Gives the function and its sequence to the table's owner, allows the roles that may insert into the
-- table to call it, and makes it the default of the column.
-- Locks: the customer's table in access exclusive mode; the lock is already held.

revoke all on function <beside_new_key>() from public;

do <body>
declare
  owner name := (select pg_get_userbyid(relowner) from pg_class where oid = <oid>);
  grantee text;
begin
  for grantee in
    select distinct case when a.grantee = 0 then 'public'
                         else quote_ident(pg_get_userbyid(a.grantee)) end
      from (select c.relacl as acl from pg_class c where c.oid = <oid>
            union all
            select t.attacl from pg_attribute t where t.attrelid = <oid> and not t.attisdropped) as l
     cross join aclexplode(l.acl) as a
     where a.privilege_type = 'INSERT'
  loop
    execute format('grant execute on function %s to %s', <'beside_new_key'> || '()', grantee);
  end loop;
  execute format('alter sequence %s owner to %I', <'beside_new_key_sequence'>, owner);
  execute format('alter function %s owner to %I', <'beside_new_key'> || '()', owner);
end <body>;

alter table <table> alter column <id> set default <beside_new_key>();
