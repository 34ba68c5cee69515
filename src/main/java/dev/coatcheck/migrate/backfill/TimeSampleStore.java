package dev.coatcheck.migrate.backfill;

import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.List;
import org.jooq.DSLContext;

/** Reads stretches of a table for a sample of its times. */
final class TimeSampleStore {
  private static final String BOUNDS =
      """
      select coalesce(min(t.<id>), 0)::bigint, coalesce(max(t.<id>), 0)::bigint,
             floor(extract(epoch from clock_timestamp()) * 1000)::bigint - <epoch>
        from <table> t\
      """;

  private static final SqlTemplate SAMPLE = KeyTimes.template("sample.sql");

  private final Database source;
  private final TargetSql names;

  TimeSampleStore(Database source, Target target) {
    this.source = source;
    this.names = new TargetSql(target);
  }

  private record Bounds(long lowest, long highest, long nowMillis) {}

  TimeSample sample() {
    Bounds bounds = source.read("time sample", sql -> rows(sql, names.fill(BOUNDS)).getFirst());
    long span = bounds.highest() - bounds.lowest() + 1;
    if (span <= (long) TimeSample.STRETCHES * TimeSample.STRETCH_ROWS) {
      return stretch(bounds, bounds.lowest(), TimeSample.STRETCHES * TimeSample.STRETCH_ROWS);
    }
    TimeSample sum = new TimeSample(0, 0);
    for (int i = 0; i < TimeSample.STRETCHES; i++) {
      long from = bounds.lowest() + span / TimeSample.STRETCHES * i;
      sum = sum.plus(stretch(bounds, from, TimeSample.STRETCH_ROWS));
    }
    return sum;
  }

  private TimeSample stretch(Bounds bounds, long from, int rows) {
    return source.read(
        "time sample",
        sql ->
            PlainSql.rows(
                    sql,
                    names.fill(SAMPLE),
                    row -> new TimeSample(row.getLong(1), row.getLong(2)),
                    bounds.nowMillis(),
                    from,
                    rows + KeyTimes.LOOK_AHEAD,
                    rows)
                .getFirst());
  }

  private static List<Bounds> rows(DSLContext sql, String query) {
    return PlainSql.rows(
        sql, query, row -> new Bounds(row.getLong(1), row.getLong(2), row.getLong(3)));
  }
}
