package dev.coatcheck.migrate.backfill;

import java.util.OptionalLong;

/**
 * The arithmetic of the backfill for rows that come one by one: the same positions as {@link
 * Backfill} gives inside Postgres.
 */
public final class KeyPositions {
  /** The worker of keys that a backfill makes. */
  public static final int WORKER = 1022;

  private static final int WORKER_MAX = 1023;
  private static final int TIME_SHIFT = 22;

  /** Of a position, below the time. */
  static final int BITS = 12;

  private static final long SEQUENCE = (1 << BITS) - 1;

  private final long t0Millis;
  private long last;

  /**
   * Begins after a position.
   *
   * @param t0Millis since the epoch of the layout: no position reaches it
   */
  public KeyPositions(long t0Millis, long last) {
    this.t0Millis = t0Millis;
    this.last = last;
  }

  /** The key at a position. */
  static long key(long position) {
    return ((position >> BITS) << TIME_SHIFT) | ((long) WORKER << BITS) | (position & SEQUENCE);
  }

  /** The position after which every key exceeds a legacy ID. */
  public static long above(long highestId) {
    return ((highestId >> TIME_SHIFT) + 1) << BITS;
  }

  public long last() {
    return last;
  }

  /** The key of a row that has one, so that the next ones come after it. */
  public void held(long key) {
    if (((key >> BITS) & WORKER_MAX) == WORKER) {
      last = Math.max(last, ((key >> TIME_SHIFT) << BITS) | (key & SEQUENCE));
    }
  }

  /**
   * The key of the next row.
   *
   * @param millis when it was made, since the epoch of the layout, if {@link KeyTimes} lets that
   *     count
   */
  public long next(OptionalLong millis) {
    last = Math.max(last + 1, millis.orElse(0) << BITS);
    if (last >> BITS >= t0Millis) {
      throw new IllegalStateException("the keys of old rows would reach the time of the plan");
    }
    return key(last);
  }
}
