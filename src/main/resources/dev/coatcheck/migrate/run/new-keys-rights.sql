-- Makes the default of the column: a function that names the number source and its sequence by their OIDs,
-- so that they, and their schema, can be renamed. All three belong to the table's owner. The roles that may
-- insert into the table may call the function; the number source moves any sequence, so only the owner may
-- call it.
-- Locks: the customer's table in access exclusive mode; the lock is already held.

create function <beside_new_key>() returns bigint
  language sql volatile parallel unsafe security definer
  return <beside_next_key>(<'beside_new_key_sequence'>::regclass);

revoke all on function <beside_new_key>(), <beside_next_key>(regclass) from public;

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
  execute format('alter function %s owner to %I', <'beside_next_key'> || '(regclass)', owner);
end <body>;

alter table <table> alter column <id> set default <beside_new_key>();
