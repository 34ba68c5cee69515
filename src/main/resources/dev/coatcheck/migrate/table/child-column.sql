-- Step "child-column": adds the twin of a child's column, which refers to the new keys, together with its
-- triggers. From the commit on, each of the two columns follows the other. The twin may be null, because
-- a row can be inserted before the row that it refers to. What the first trigger can't see yet is filled
-- at the end of the transaction, and a row that is still wrong then is refused. A detached partition
-- already has its twin, with an index and a foreign key, which are renamed to the usual names.
-- Locks: those of lock.sql, which is sent before: the child and its partitions in access exclusive mode until
-- the commit, without a scan.

do <body>
declare
  twin smallint := (select a.attnum from pg_attribute a where a.attrelid = <child_oid>::oid
                       and a.attname = <'ref_name'> and a.atttypid = 'int8'::regtype);
  old_name name;
  index_oid oid;
begin
  if twin is null then
    alter table <child> add column <ref> bigint;
    return;
  end if;
  select f.conname into old_name from pg_constraint f
   where f.contype = 'f' and f.conrelid = <child_oid>::oid and f.confrelid = <oid>::oid
     and f.conkey = array[twin] and f.conparentid = 0 order by f.oid limit 1;
  if old_name is distinct from <'ref_key_name'> and old_name is not null then
    execute format('alter table %s rename constraint %I to %I', <child_oid>::oid::regclass, old_name,
                   <'ref_key_name'>);
  end if;
  select c.relname, c.oid into old_name, index_oid
    from pg_index i join pg_class c on c.oid = i.indexrelid
   where i.indrelid = <child_oid>::oid and i.indkey::int2[] = array[twin] and i.indisvalid
     and not i.indisunique and i.indpred is null and not c.relispartition
   order by quote_ident(c.relname) = <'leaf_index'> desc, c.oid limit 1;
  if quote_ident(old_name) <> <'leaf_index'> then
    execute format('alter index %s rename to %s', index_oid::regclass, <'leaf_index'>);
  end if;
end <body>;

-- A role with rights on single columns gets the same rights on the twin.
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

-- They fire for sessions in replica mode too.
alter table <child> enable always trigger <t_ref>;
alter table <child> enable always trigger <t_ref_late>;
