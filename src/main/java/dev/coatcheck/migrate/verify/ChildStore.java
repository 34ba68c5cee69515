package dev.coatcheck.migrate.verify;

import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.List;

/** Compares the two columns of one child: both must refer to the same row of the table. */
final class ChildStore {
  static final long PAGES = 2_048;

  private static final String HAS_BOTH =
      "select count(*) = 2 from pg_attribute where attrelid = <child_oid>::oid"
          + " and (attname = <'ref_name'> or attnum = <child_attnum>) and not attisdropped";

  private static final String PAGES_NOW =
      "select pg_relation_size(<leaf_oid>::oid::regclass) / current_setting('block_size')::bigint";

  private static final SqlTemplate MISMATCHES =
      SqlTemplate.file(ChildStore.class, "child-mismatches.sql");

  private static final String TRIGGERS_OFF =
      """
      select wanted.name || ' of ' || <'child_label'>
        from (values (<'t_ref'>), (<'t_ref_late'>)) as wanted (name)
       where not exists (
         select from pg_trigger g where g.tgrelid = <leaf_oid>::oid
            and quote_ident(g.tgname) = wanted.name and g.tgenabled = 'A')\
      """;

  private static final String INVALID_INDEX =
      """
      select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
       where i.indrelid = <leaf_oid>::oid
         and quote_ident(c.relname) = <'leaf_index'>
         and not (i.indisvalid and i.indisready)\
      """;

  private final Session source;
  private final TargetSql names;

  ChildStore(Session source, Target target, Child child, Child.Leaf leaf) {
    this.source = source;
    this.names = new TargetSql(target).with(child, leaf);
  }

  /** Whether there is something to compare: the run has added the twin, and the column is there. */
  boolean hasBoth() {
    return RowStore.read(source, sql -> PlainSql.isTrue(sql, names.fill(HAS_BOTH)));
  }

  long pages() {
    return RowStore.read(
        source, sql -> PlainSql.row(sql, names.fill(PAGES_NOW), row -> row.getLong(1)));
  }

  /** The references by the old column, on some pages, that the twin contradicts. */
  List<String> mismatches(long firstPage) {
    return source.longTransaction(
        "verify",
        sql -> {
          RowStore.bound(sql);
          return PlainSql.rows(
              sql,
              names.fill(MISMATCHES),
              row -> row.getString(1),
              "(" + firstPage + ",0)",
              "(" + (firstPage + PAGES) + ",0)");
        });
  }

  List<String> triggersOff() {
    return texts(TRIGGERS_OFF);
  }

  List<String> invalidIndexes() {
    return texts(INVALID_INDEX);
  }

  private List<String> texts(String query) {
    return RowStore.read(
        source, sql -> PlainSql.rows(sql, names.fill(query), row -> row.getString(1)));
  }
}
