package dev.coatcheck.migrate.verify;

import dev.coatcheck.migrate.source.ObjectsGone;
import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.PlainSql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jooq.DSLContext;
import org.jspecify.annotations.Nullable;

/** Reads the rows of the table. Each read is short and has its own snapshot. */
final class RowStore {
  /** With {@code row_security} off, a read fails if a policy would hide rows. */
  private static final String BOUND =
      """
      select set_config('row_security', 'off', true), set_config('lock_timeout', '10s', true)\
      """;

  private static final SqlTemplate RANGE = SqlTemplate.file(RowStore.class, "rows.sql");
  private static final SqlTemplate AGAIN = SqlTemplate.file(RowStore.class, "rows-again.sql");
  private static final SqlTemplate WAITING = SqlTemplate.file(RowStore.class, "waiting.sql");

  private static final String NOW =
      "select floor(extract(epoch from clock_timestamp()) * 1000)::bigint - <epoch>";

  private static final String BOUNDS =
      """
      select c.t0_ms, (select max(t.<id>)::bigint from <table> t)
        from <schema>.checkpoint c where c.run = <run>\
      """;

  private static final int STATEMENT_MILLIS_MAX = 30_000;

  private final Session source;
  private final TargetSql names;

  RowStore(Session source, Target target) {
    this.source = source;
    this.names = new TargetSql(target);
  }

  /**
   * @param archived the key that its legacy ID had before
   * @param createdMillis since the epoch of the layout
   */
  record Row(
      long legacy, @Nullable Long key, @Nullable Long archived, @Nullable Long createdMillis) {}

  /** Rows, and the time on the source's clock after they were read, since the layout's epoch. */
  record Range(List<Row> rows, long nowMillis) {}

  /**
   * @param lastId empty if the table has no rows
   */
  record Bounds(long t0Millis, OptionalLong lastId) {}

  /**
   * @throws ObjectsGone if the row of the run is gone
   */
  Bounds bounds() {
    return read(sql ->
            PlainSql.first(
                sql,
                names.fill(BOUNDS),
                row -> new Bounds(row.getLong(1), PlainSql.optionalLong(row, 2))))
        .orElseThrow(ObjectsGone::checkpoint);
  }

  Range range(long fromId, long lastId, int rows) {
    return read(
        sql -> {
          List<Row> read =
              PlainSql.rows(sql, names.fill(RANGE), RowStore::row, fromId, lastId, rows);
          long now = PlainSql.row(sql, names.fill(NOW), row -> row.getLong(1));
          return new Range(read, now);
        });
  }

  /** The same rows as they are now, without deleted ones. */
  List<Row> again(List<Row> rows) {
    return read(sql -> PlainSql.rows(sql, names.fill(AGAIN), RowStore::row, (Object) ids(rows)));
  }

  /** Whether entries of these rows wait in the outbox. Waits for a relay that delivers them. */
  boolean isWaiting(List<Row> rows) {
    return read(
        sql -> {
          boolean waits = false;
          for (String outbox : List.of("<outbox_a>", "<outbox_b>")) {
            String query = names.fill(WAITING.with("outbox", outbox));
            waits |=
                !PlainSql.rows(sql, query, row -> row.getLong(1), (Object) ids(rows)).isEmpty();
          }
          return waits;
        });
  }

  private static Row row(ResultSet row) throws SQLException {
    return new Row(
        row.getLong(1),
        PlainSql.longOrNull(row, 2),
        PlainSql.longOrNull(row, 3),
        PlainSql.longOrNull(row, 4));
  }

  private static Long[] ids(List<Row> rows) {
    return rows.stream().map(Row::legacy).toArray(Long[]::new);
  }

  private <T> T read(Function<DSLContext, T> work) {
    return read(source, work);
  }

  static <T> T read(Session source, Function<DSLContext, T> work) {
    return source.transaction("verify", STATEMENT_MILLIS_MAX, sql -> work.apply(bound(sql)));
  }

  /** Settings with which no policy hides a row, and no lock is awaited for long. */
  static DSLContext bound(DSLContext sql) {
    PlainSql.execute(sql, BOUND);
    return sql;
  }
}
