-- The function that writes the twins of rows of a child. The update is where the child's own triggers,
-- checks and index functions run: so the function belongs to the owner of the child, runs as the
-- owner, has the application's search path, and does the update and nothing else.
-- Locks: making it takes none. A call locks the rows that it changes.

create or replace function <fill_ref>(relation regclass, tid[], bigint[]) returns void
  language plpgsql security definer
  set search_path = <application_path> set row_security = on as <body>
begin
  execute pg_catalog.format(
    'update only %1$s t set %2$I = u.k'
    ' from rows from (pg_catalog.unnest($1), pg_catalog.unnest($2)) as u (i, k)'
    ' where t.ctid operator(pg_catalog.=) u.i', relation, <'ref_name'>)
    using $2, $3;
end <body>;

revoke all on function <fill_ref>(regclass, tid[], bigint[]) from public;
