-- Fills, at the end of a transaction, what on-ref.sql could not see: the row that a child refers to was
-- inserted later in the same statement or transaction. A row whose two columns still don't agree is
-- refused with a serialization failure, because a newer snapshot would see the missing row; but not in a
-- partition without the foreign key, where a row may have no parent.
-- Locks: those of the update, on rows of the same transaction. Runs as our user and sees only Postgres's
-- own names; fill-ref.sql does the update. It runs seldom, so it looks all names up. It compares only
-- columns of Postgres's own types: operators and casts of other types would run as our user.

create or replace function <on_ref_late>() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as <body>
-- Of the run <run>, whose undo looks for this.
declare
  fk name := <fk_column>;
  parent_id name := <id_column>;
  same_row text := coalesce(
    (select string_agg(format('t.%1$I = ($1).%1$I', a.attname), ' and ')
       from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
       join pg_type y on y.oid = a.atttypid and y.typnamespace = 'pg_catalog'::regnamespace
      where i.indrelid = tg_relid and i.indisprimary), 'true');
  rows tid[];
  keys bigint[];
  is_open boolean;
begin
  <only_on_child>
  if fk is null or parent_id is null
    or not exists (select from pg_attribute a where a.attrelid = <oid>::oid
                      and a.attname = <'key'> and not a.attisdropped) then
    return null;
  end if;
  execute format(
    'select array_agg(t.ctid), array_agg(p.<key>) from only %s t join %s p on p.%I = t.%I'
    ' where t.%I = ($1).%I and t.%I is null and %s',
    tg_relid::regclass, <oid>::oid::regclass, parent_id, fk, fk, fk, <'ref_name'>, same_row)
    into rows, keys using new;
  if rows is not null then
    perform <fill_ref>(tg_relid, rows, keys, false);
    -- What a trigger of the table sets there outlasts that function, and would lead us elsewhere.
    perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  end if;
  execute format('select exists (select from only %s t where (t.%I is null) <> (t.%I is null) and %s'
                 ' and t.%I is not distinct from ($1).%I)',
                 tg_relid::regclass, fk, <'ref_name'>, same_row, fk, fk)
    into is_open using new;
  if is_open and <is_bound> then
    raise exception 'coatcheck: the row that % refers to can''t be seen', <'child_label'>
      using errcode = 'serialization_failure', hint = 'Run the transaction again.';
  end if;
  return null;
end <body>;
