package dev.coatcheck.core.key;

import java.util.List;
import java.util.stream.IntStream;

/**
 * The uses of a layout's workers. The two highest, {@link #BACKFILL} and {@link #NUMBER_SOURCE},
 * make keys inside Postgres, without a lease. Below them, keys for given times have workers of
 * their own: of 64 workers or more eight, the highest and the last one of each other eighth, so
 * that ranges of workers share them; of 8 workers or more the highest. All others are leased. A
 * layout of less than 8 workers has leased ones only.
 */
public final class WorkerUses {
  /** The worker, in the default layout, of the keys that a backfill gives to old rows. */
  public static final int BACKFILL = 1_022;

  /** The worker, in the default layout, of the keys that Postgres itself gives to new rows. */
  public static final int NUMBER_SOURCE = 1_023;

  /** More are never used: each leased one is a row. */
  private static final int WORKERS_MAX = 1_024;

  private static final int INSIDE_POSTGRES = 2;
  private static final int WORKERS_MIN_TO_RESERVE = 8;
  private static final int WORKERS_MIN_FOR_EIGHT = 64;
  private static final int DATED_MAX = 8;

  private WorkerUses() {}

  /**
   * The workers of keys for given times, the highest first. They are never leased: nobody knows
   * which milliseconds of its past a leased worker has used. Empty for layouts of less than 8
   * workers.
   */
  public static List<Integer> dated(SnowflakeLayout layout) {
    if (isTiny(layout)) {
      return List.of();
    }
    int eighth = used(layout) / DATED_MAX;
    int count = layout.workers() < WORKERS_MIN_FOR_EIGHT ? 1 : DATED_MAX;
    return IntStream.range(0, count)
        .mapToObj(n -> n == 0 ? shared(layout) - 1 : (DATED_MAX - n) * eighth - 1)
        .toList();
  }

  /** Whether instances lease a worker. */
  public static boolean isLeased(SnowflakeLayout layout, int worker) {
    return worker >= 0 && worker < shared(layout) && !dated(layout).contains(worker);
  }

  /** Workers 0 up to this one, exclusive, are shared out by ranges. */
  public static int shared(SnowflakeLayout layout) {
    return isTiny(layout) ? layout.workers() : used(layout) - INSIDE_POSTGRES;
  }

  private static int used(SnowflakeLayout layout) {
    return Math.min(layout.workers(), WORKERS_MAX);
  }

  private static boolean isTiny(SnowflakeLayout layout) {
    return layout.workers() < WORKERS_MIN_TO_RESERVE;
  }
}
