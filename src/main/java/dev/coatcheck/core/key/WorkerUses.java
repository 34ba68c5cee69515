package dev.coatcheck.core.key;

import java.util.OptionalInt;

/**
 * The uses of a layout's workers. From 0 on they are leased; the three highest are those of keys
 * for given times and, without a lease, {@link #BACKFILL} and {@link #NUMBER_SOURCE}, which make
 * keys inside Postgres. A layout of less than 8 workers has leased ones only.
 */
public final class WorkerUses {
  /** The worker, in the default layout, of keys for given times; see {@link #dated}. */
  public static final int DATED = 1_021;

  /** The worker, in the default layout, of the keys that a backfill gives to old rows. */
  public static final int BACKFILL = 1_022;

  /** The worker, in the default layout, of the keys that Postgres itself gives to new rows. */
  public static final int NUMBER_SOURCE = 1_023;

  private static final int LEASED_MAX = DATED;
  private static final int RESERVED = 3;
  private static final int WORKERS_MIN_TO_RESERVE = 8;

  private WorkerUses() {}

  /** Workers 0 up to this one, exclusive, are leased. */
  public static int leased(SnowflakeLayout layout) {
    return isTiny(layout) ? layout.workers() : Math.min(layout.workers() - RESERVED, LEASED_MAX);
  }

  /**
   * The worker of keys for given times. It is never leased: nobody knows which milliseconds of its
   * past a leased worker has used. Empty for layouts of less than 8 workers.
   */
  public static OptionalInt dated(SnowflakeLayout layout) {
    return isTiny(layout) ? OptionalInt.empty() : OptionalInt.of(leased(layout));
  }

  /** Workers 0 up to this one, exclusive, are shared out by ranges. */
  public static int shared(SnowflakeLayout layout) {
    return leased(layout) + (isTiny(layout) ? 0 : 1);
  }

  private static boolean isTiny(SnowflakeLayout layout) {
    return layout.workers() < WORKERS_MIN_TO_RESERVE;
  }
}
