package dev.coatcheck.migrate.backfill;

import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.postgres.sql.Database;

/**
 * How many rows would lose the time of their creation, from stretches of a table that lie evenly
 * between its lowest and its highest ID.
 *
 * @param rows that were looked at
 * @param timesLost of these
 */
public record TimeSample(long rows, long timesLost) {
  static final int STRETCHES = 16;

  /** Whole blocks. */
  static final int STRETCH_ROWS = 10 * KeyTimes.BLOCK;

  /**
   * Reads about 20,000 rows by the primary key; all of a smaller table.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the source can't be asked
   */
  public static TimeSample of(Database source, Target target) {
    return target.createdAt().isEmpty()
        ? new TimeSample(0, 0)
        : new TimeSampleStore(source, target).sample();
  }

  TimeSample plus(TimeSample more) {
    return new TimeSample(rows + more.rows, timesLost + more.timesLost);
  }
}
