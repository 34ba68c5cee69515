package dev.coatcheck.cluster.lease;

import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.WorkerUses;
import java.util.stream.IntStream;

/**
 * Which lease an instance asks for. {@code windowMillis} is how long it can mint through a database
 * outage. It is one value for all holders of a database, which refuses a holder with another: the
 * rest after a failover is measured by it.
 */
public record LeaseSettings(
    SnowflakeLayout layout, int firstWorker, int lastWorker, String holder, long windowMillis) {
  public static final long WINDOW_MILLIS_DEFAULT = 3_000;
  public static final long WINDOW_MILLIS_MAX = 60_000;

  /** In the place of a window: that of the other holders, or the default of the first holder. */
  public static final long WINDOW_OF_THE_DATABASE = 0;

  static final long LEASE_MILLIS = 15_000;
  static final long RENEW_EVERY_NANOS = 1_000_000_000L;
  // Renewals come every second, so a shorter window could close between two of them.
  static final long WINDOW_MILLIS_MIN = 2_000;
  static final long REST_BEYOND_WINDOW_MILLIS = 12_000;

  public LeaseSettings {
    if (firstWorker < 0
        || lastWorker >= WorkerUses.shared(layout)
        || IntStream.rangeClosed(firstWorker, lastWorker)
            .noneMatch(worker -> WorkerUses.isLeased(layout, worker))) {
      throw new IllegalArgumentException(
          "workers %d..%d are not within 0..%d of layout %s, or none of them is leased"
              .formatted(firstWorker, lastWorker, WorkerUses.shared(layout) - 1, layout.name()));
    }
    if (holder.isBlank()) {
      throw new IllegalArgumentException("a holder needs a name");
    }
    if (windowMillis != WINDOW_OF_THE_DATABASE
        && (windowMillis < WINDOW_MILLIS_MIN || windowMillis > WINDOW_MILLIS_MAX)) {
      throw new IllegalArgumentException(
          "windowMillis %d is not within %d..%d"
              .formatted(windowMillis, WINDOW_MILLIS_MIN, WINDOW_MILLIS_MAX));
    }
  }

  /** Any worker of the layout, with the default window. */
  public static LeaseSettings of(SnowflakeLayout layout, String holder) {
    return new LeaseSettings(
        layout, 0, WorkerUses.shared(layout) - 1, holder, WINDOW_MILLIS_DEFAULT);
  }

  LeaseSettings withWindow(long millis) {
    return new LeaseSettings(layout, firstWorker, lastWorker, holder, millis);
  }

  Integer[] neverLeased() {
    return WorkerUses.dated(layout).toArray(Integer[]::new);
  }
}
