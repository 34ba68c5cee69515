package dev.coatcheck.migrate.table;

import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.List;

/**
 * Fills the twins of a child's rows by ranges of pages. So the child needs no particular key, and
 * if a row moves to another page meanwhile, the trigger fills it.
 */
public final class ChildFillTable {
  private static final SqlTemplate FILL = SqlTemplate.file(ChildFillTable.class, "fill-child.sql");
  private static final SqlTemplate OPEN = SqlTemplate.file(ChildFillTable.class, "open-child.sql");

  public static final List<SqlTemplate> STATEMENTS = List.of(FILL, OPEN);

  private static final String PAGES =
      "select pg_relation_size(<leaf_oid>::oid::regclass) / current_setting('block_size')::bigint";

  /** A wait for a row must end before the server searches for deadlocks and ends a writer. */
  private static final String BOUND =
      """
      select set_config('lock_timeout', <lock_timeout>, true),
             set_config('statement_timeout', ?::text, true),
             set_config('row_security', 'off', true), set_config('jit', 'off', true)\
      """
          .replace("<lock_timeout>", SourceSession.LOCK_TIMEOUT);

  private final Session session;
  private final TargetSql names;

  public ChildFillTable(SourceSession session, Target target, Child child, Child.Leaf leaf) {
    this.session = session.session();
    this.names = new TargetSql(target).with(child, leaf);
  }

  /** The number of rows without a twin, and some of the legacy IDs that they refer to. */
  public record Open(long rows, String legacyIds) {}

  public long pages() {
    return session.transaction(
        "child pages", sql -> PlainSql.row(sql, names.fill(PAGES), row -> row.getLong(1)));
  }

  /**
   * Fills the rows on some pages in one transaction; returns how many.
   *
   * @throws dev.coatcheck.postgres.sql.LockTimeout if a row is locked
   */
  public int fill(long firstPage, long pages, int statementMillisMax) {
    return session.longTransaction(
        "child fill",
        sql -> {
          PlainSql.rows(sql, BOUND, row -> 0, statementMillisMax);
          int rows =
              PlainSql.row(
                  sql,
                  names.fill(FILL),
                  row -> row.getInt(1),
                  "(" + firstPage + ",0)",
                  "(" + (firstPage + pages) + ",0)");
          PlainSql.pinPath(sql);
          return rows;
        });
  }

  /** Reads the whole child. */
  public Open open() {
    return session.longTransaction(
        "child rows without a twin",
        sql ->
            PlainSql.row(
                sql,
                names.fill(OPEN),
                row -> new Open(row.getLong(1), String.valueOf(row.getString(2)))));
  }
}
