-- The function that writes keys to those of the rows that have none, and returns the changed rows. Its
-- update runs the table's own triggers, checks and index functions. They were written for the
-- application's search path, and have the rights of the user that they run as. So the function belongs to
-- the table's owner, runs as the owner with that path, and does only the update. Its keys are computed
-- before, without that owner and that path.
-- Locks: none on the customer's table to create it. A call locks the rows that it changes.

create or replace function <fill>(bigint[], bigint[]) returns table (legacy bigint, key bigint)
  language plpgsql security definer
  set search_path = <application_path> set row_security = on as <body>
begin
  perform pg_catalog.set_config('coatcheck.fill', <run>, true);
  return query execute pg_catalog.format(
    'update %1$s t set <key> = u.k'
    ' from rows from (pg_catalog.unnest($1), pg_catalog.unnest($2)) as u (i, k)'
    ' where u.i operator(pg_catalog.=) t.%2$I and t.<key> is null'
    ' returning t.%2$I::pg_catalog.int8, t.<key>',
    '<oid>'::pg_catalog.regclass,
    (select a.attname from pg_catalog.pg_attribute a
      where a.attrelid operator(pg_catalog.=) '<oid>'::pg_catalog.oid
        and a.attnum operator(pg_catalog.=) <key_attnum>::pg_catalog.int2))
    using $1, $2;
  -- What is deferred would else run in our commit, as our user and without that path.
  set constraints all immediate;
  perform pg_catalog.set_config('coatcheck.fill', '', true);
end <body>;
