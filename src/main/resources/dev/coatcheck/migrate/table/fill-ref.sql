-- The function that writes the twins of rows of a child. Its update runs the child's own triggers, checks
-- and index functions. So the function belongs to the owner of the child, runs as the owner with the
-- application's search path, and does only the update.
-- Locks: none to create it. A call locks the rows that it changes.

create or replace function <fill_ref>(relation regclass, tid[], bigint[], is_batch boolean)
  returns void
  language plpgsql security definer
  set search_path = <application_path> set row_security = on as <body>
begin
  perform pg_catalog.set_config('coatcheck.fill', <run>, true);
  execute pg_catalog.format(
    'update only %1$s t set %2$I = u.k'
    ' from rows from (pg_catalog.unnest($1), pg_catalog.unnest($2)) as u (i, k)'
    ' where t.ctid operator(pg_catalog.=) u.i', relation, <'ref_name'>)
    using $2, $3;
  if is_batch then
    -- What is deferred would else run in our commit, as our user and without that path.
    set constraints all immediate;
  end if;
  perform pg_catalog.set_config('coatcheck.fill', '', true);
end <body>;

revoke all on function <fill_ref>(regclass, tid[], bigint[], boolean) from public;
