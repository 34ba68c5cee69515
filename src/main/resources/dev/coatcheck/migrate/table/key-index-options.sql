-- What the index of the primary key has beside its column, as the end of the statement that builds the one
-- that takes its place: included columns, storage parameters and the tablespace. Columns that refer to
-- the table itself are left out, because "contract" drops them, and so is a tablespace in which our role
-- may create nothing.
-- Locks: none.

select concat(
         (select ' include (' || string_agg(quote_ident(a.attname), ', ' order by k.n) || ')'
            from unnest(i.indkey::int2[]) with ordinality as k (attnum, n)
            join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
           where k.n > i.indnkeyatts and a.attname <> <'key'> and a.attnum <> <key_attnum>
             and not exists (select from pg_constraint f
                              where f.contype = 'f' and f.conrelid = <oid>::oid
                                and f.confrelid = <oid>::oid and a.attnum = any (f.conkey))),
         (select ' with (' || string_agg(format('%I = %L', o.option_name, o.option_value), ', ')
                 || ')'
            from pg_options_to_table(c.reloptions) as o),
         (select ' tablespace ' || quote_ident(t.spcname) from pg_tablespace t
           where t.oid = c.reltablespace and has_tablespace_privilege(t.oid, 'create')))
  from pg_index i
  join pg_class c on c.oid = i.indexrelid
 where i.indrelid = <oid>::oid and i.indisprimary;
