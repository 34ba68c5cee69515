package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.plan.AppObjects.AppFunction;
import dev.coatcheck.migrate.plan.AppObjects.UpdateTrigger;
import dev.coatcheck.postgres.sql.PlainSql;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jooq.DSLContext;

/** Reads what the catalog tells about the applications of a table. */
final class AppObjectsTable {
  /**
   * Those behind the table's triggers, those that take or return its rows, and those that mention
   * it: the first two need not name the table at all.
   */
  private static final String FUNCTIONS =
      """
      with the as (
        select c.oid, lower(c.relname) as name, array[c.reltype, y.typarray] as types
          from pg_class c join pg_type y on y.oid = c.reltype where c.oid = ?::oid),
      known as (
        select p.*, l.lanname, format('%I.%I', n.nspname, p.proname) as name,
               left(coalesce(pg_get_function_sqlbody(p.oid), p.prosrc), 100000) as body,
               array(select g.tgname::text from pg_trigger g
                      where g.tgrelid = the.oid and g.tgfoid = p.oid and not g.tgisinternal
                        and g.tgenabled <> 'D' and not starts_with(g.tgname::text, '~coatcheck_')
                      order by 1) as triggers,
               p.prorettype = any (the.types) as returns_row,
               array(select coalesce(nullif(p.proargnames[a.n], ''), '$' || a.n)
                       from unnest(coalesce(p.proallargtypes, p.proargtypes::oid[]))
                              with ordinality as a (type, n)
                      where a.type = any (the.types)
                        and coalesce(p.proargmodes[a.n]::text, 'i') in ('i', 'b', 'v')
                      order by a.n) as row_arguments,
               the.name as table_name
          from the cross join pg_proc p
          join pg_namespace n on n.oid = p.pronamespace
          join pg_language l on l.oid = p.prolang
         where n.nspname not in ('pg_catalog', 'information_schema', 'coatcheck_migration')
           and l.lanname not in ('c', 'internal'))
      select name, lanname::text, body, prosqlbody is not null, triggers, returns_row,
             proretset and prorettype = 'record'::regtype
               and proargmodes && array['t', 'o', 'b']::"char"[],
             row_arguments
        from known
       where triggers <> '{}' or returns_row or row_arguments <> '{}'
          or strpos(lower(body), table_name) > 0
       order by triggers <> '{}' or returns_row or row_arguments <> '{}' desc, name limit 1000\
      """;

  private static final String UPDATE_TRIGGERS =
      """
      select quote_ident(tgname), pg_get_triggerdef(oid), tgconstraint <> 0 from pg_trigger
       where tgrelid = ?::oid and not tgisinternal and tgtype & 16 = 16
         and tgenabled in ('O', 'A') and tgattr::text = ''
         and not starts_with(tgname::text, '~coatcheck_')
         and strpos(pg_get_triggerdef(oid), 'coatcheck.fill') = 0 order by 1\
      """;

  private static final String GRANTED_COLUMNS =
      """
      select quote_ident(attname) from pg_attribute
       where attrelid = ?::oid and attacl is not null and not attisdropped order by attnum\
      """;

  /** Of the row type itself, of arrays and of domains over it; views go on working. */
  private static final String ROW_COLUMNS =
      """
      with recursive types (oid) as (
        select unnest(array[y.oid, y.typarray])
          from pg_class c join pg_type y on y.oid = c.reltype where c.oid = ?::oid
        union
        select unnest(array[d.oid, d.typarray])
          from types join pg_type d on d.typbasetype = types.oid where d.typtype = 'd')
      select format('%I.%I.%I', n.nspname, c.relname, a.attname)
        from pg_attribute a
        join pg_class c on c.oid = a.attrelid
        join pg_namespace n on n.oid = c.relnamespace
       where a.atttypid in (select oid from types where oid <> 0) and not a.attisdropped
         and c.relkind in ('r', 'p', 'f', 'c') and not c.relispartition
         and n.nspname <> 'coatcheck_migration'
       order by 1 limit 1000\
      """;

  private AppObjectsTable() {}

  static AppObjects read(DSLContext sql, long oid) {
    return new AppObjects(
        PlainSql.rows(sql, FUNCTIONS, AppObjectsTable::function, oid),
        PlainSql.rows(
            sql,
            UPDATE_TRIGGERS,
            row -> new UpdateTrigger(row.getString(1), row.getString(2), row.getBoolean(3)),
            oid),
        PlainSql.rows(sql, GRANTED_COLUMNS, row -> row.getString(1), oid),
        PlainSql.rows(sql, ROW_COLUMNS, row -> row.getString(1), oid));
  }

  private static AppFunction function(ResultSet row) throws SQLException {
    return new AppFunction(
        row.getString(1),
        row.getString(2),
        row.getString(3),
        row.getBoolean(4),
        PlainSql.texts(row, 5),
        row.getBoolean(6),
        row.getBoolean(7),
        PlainSql.texts(row, 8));
  }
}
