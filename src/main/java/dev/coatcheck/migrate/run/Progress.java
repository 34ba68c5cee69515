package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.table.Checkpoint;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * How far a backfill has come.
 *
 * @param workedMillis the time it has worked, pauses left out
 */
public record Progress(long rowsTotal, long workedMillis, Checkpoint.Counts counts) {

  public long rowsDone() {
    return counts.done();
  }

  /** Rows a second so far; empty before the first. */
  public OptionalDouble rowsPerSecond() {
    return rowsDone() == 0 || workedMillis == 0
        ? OptionalDouble.empty()
        : OptionalDouble.of(rowsDone() * 1_000.0 / workedMillis);
  }

  /** For the remaining rows at that rate; empty while there is no rate. */
  public OptionalLong secondsLeft() {
    return secondsLeft(rowsPerSecond());
  }

  /** For the remaining rows at a rate; empty without one, and at 0. */
  public OptionalLong secondsLeft(OptionalDouble perSecond) {
    long left = Math.max(0, rowsTotal - rowsDone());
    return perSecond.orElse(0) > 0
        ? OptionalLong.of((long) Math.ceil(left / perSecond.getAsDouble()))
        : OptionalLong.empty();
  }
}
