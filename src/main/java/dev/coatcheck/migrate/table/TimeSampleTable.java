package dev.coatcheck.migrate.table;

import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;

/**
 * Reads evenly distributed stretches of a table, between its lowest and its highest ID, to sample
 * its times.
 */
public final class TimeSampleTable {
  private static final int STRETCHES = 16;

  private static final int STRETCH_ROWS = 10 * KeyTimes.BLOCK;

  private static final String BOUNDS =
      """
      select coalesce(min(t.<id>), 0)::bigint, coalesce(max(t.<id>), 0)::bigint,
             floor(extract(epoch from clock_timestamp()) * 1000)::bigint - <epoch>
        from <table> t\
      """;

  private static final SqlTemplate SAMPLE = KeyTimes.template("sample.sql");

  private final Database source;
  private final TargetSql names;

  private TimeSampleTable(Database source, Target target) {
    this.source = source;
    this.names = new TargetSql(target);
  }

  /**
   * How many rows would lose their creation time.
   *
   * @param rows that were read
   * @param timesLost of these
   */
  public record TimeSample(long rows, long timesLost) {
    private TimeSample plus(TimeSample more) {
      return new TimeSample(rows + more.rows, timesLost + more.timesLost);
    }
  }

  /** Reads about 20,000 rows by the primary key, or all rows of a smaller table. */
  public static TimeSample of(Database source, Target target) {
    return target.createdAt().isEmpty()
        ? new TimeSample(0, 0)
        : new TimeSampleTable(source, target).sample();
  }

  private record Bounds(long lowest, long highest, long nowMillis) {}

  private TimeSample sample() {
    Bounds bounds =
        source.read(
            "time sample",
            sql ->
                PlainSql.row(
                    sql,
                    names.fill(BOUNDS),
                    row -> new Bounds(row.getLong(1), row.getLong(2), row.getLong(3))));
    long span = bounds.highest() - bounds.lowest() + 1;
    if (span <= (long) STRETCHES * STRETCH_ROWS) {
      return stretch(bounds, bounds.lowest(), STRETCHES * STRETCH_ROWS);
    }
    TimeSample sum = new TimeSample(0, 0);
    for (int i = 0; i < STRETCHES; i++) {
      long from = bounds.lowest() + span / STRETCHES * i;
      sum = sum.plus(stretch(bounds, from, STRETCH_ROWS));
    }
    return sum;
  }

  private TimeSample stretch(Bounds bounds, long from, int rows) {
    return source.read(
        "time sample",
        sql ->
            PlainSql.row(
                sql,
                names.fill(SAMPLE),
                row -> new TimeSample(row.getLong(1), row.getLong(2)),
                bounds.nowMillis(),
                from,
                rows + KeyTimes.LOOK_AHEAD,
                rows));
  }
}
