package dev.coatcheck.core.key;

import java.util.List;
import java.util.stream.IntStream;

/**
 * The uses of a layout's workers. The two highest, {@link #BACKFILL} and {@link #NUMBER_SOURCE},
 * generate keys inside Postgres, without a lease. Below them are the dated workers, which generate
 * keys for given times: of 64 or more workers eight are dated, namely the highest and the last one
 * of each other eighth, so that each range of workers gets a share; of 8 or more workers the
 * highest is dated. All others are leased. In a layout of fewer than 8 workers all are leased.
 */
public final class WorkerUses {
  /** The worker of the keys that a backfill assigns to old rows, in the default layout. */
  public static final int BACKFILL = 1_022;

  /** The worker of the keys that Postgres itself assigns to new rows, in the default layout. */
  public static final int NUMBER_SOURCE = 1_023;

  /** More workers are never used, because each leased worker is a row. */
  private static final int WORKERS_MAX = 1_024;

  private static final int INSIDE_POSTGRES = 2;
  private static final int WORKERS_MIN_TO_RESERVE = 8;
  private static final int WORKERS_MIN_FOR_EIGHT = 64;
  private static final int DATED_MAX = 8;

  private WorkerUses() {}

  /**
   * The dated workers, highest first. They are never leased, because it is unknown which past
   * milliseconds a leased worker has used. Empty for layouts of fewer than 8 workers.
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

  public static boolean isLeased(SnowflakeLayout layout, int worker) {
    return worker >= 0 && worker < shared(layout) && !dated(layout).contains(worker);
  }

  /** The workers from 0 up to this one, exclusive, are divided into ranges. */
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
