package dev.coatcheck.migrate.table;

import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.WorkerUses;
import java.util.OptionalLong;

/**
 * The arithmetic of the backfill for rows that arrive one by one: gives the same positions as
 * {@link Backfill} inside Postgres.
 */
public final class KeyPositions {
  private static final SnowflakeLayout LAYOUT = SnowflakeLayout.DEFAULT;

  private final long t0Millis;
  private long last;

  /**
   * Starts after a position.
   *
   * @param t0Millis since the epoch of the layout; all positions are below it
   */
  public KeyPositions(long t0Millis, long last) {
    this.t0Millis = t0Millis;
    this.last = last;
  }

  static long key(long position) {
    return LAYOUT.key(position, WorkerUses.BACKFILL);
  }

  /** Whether the key of a position would not be older than {@code t0Millis}. */
  static boolean reaches(long position, long t0Millis) {
    return position >= LAYOUT.position(LAYOUT.epochMillis() + t0Millis);
  }

  public long last() {
    return last;
  }

  /** Notes the existing key of a row, so that the next keys follow it. */
  public void held(long key) {
    if (LAYOUT.workerOf(key) == WorkerUses.BACKFILL) {
      last = Math.max(last, LAYOUT.positionOf(key));
    }
  }

  /**
   * The key of the next row.
   *
   * @param millis its creation time since the epoch of the layout, if {@link KeyTimes} accepts it
   */
  public long next(OptionalLong millis) {
    last = Math.max(last + 1, LAYOUT.position(LAYOUT.epochMillis() + millis.orElse(0)));
    if (reaches(last, t0Millis)) {
      throw new IllegalStateException("the keys of old rows would reach the time of the plan");
    }
    return key(last);
  }
}
