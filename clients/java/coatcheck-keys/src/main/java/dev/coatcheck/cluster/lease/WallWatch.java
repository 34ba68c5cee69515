package dev.coatcheck.cluster.lease;

import java.util.function.LongSupplier;

/**
 * Compares the wall clock with the monotonic one, which stands still while a machine is suspended.
 * Used by one thread.
 */
final class WallWatch {
  /** How often to look. */
  static final long EVERY_NANOS = 100_000_000;

  private static final long AHEAD_MILLIS_MAX = 2_000;
  private static final long NANOS_PER_MILLI = 1_000_000;

  private final LongSupplier wallMillis;
  private long sentLeadMillis;
  private long leadMillis;
  private boolean isKnown;

  WallWatch(LongSupplier wallMillis) {
    this.wallMillis = wallMillis;
  }

  /** A request is about to be sent. */
  void sending(long nano) {
    sentLeadMillis = lead(nano);
  }

  /**
   * Its reply has told the time: what the two clocks did before the request doesn't count. What
   * they did after it does, because the reply may be from before a suspension.
   */
  void settled() {
    leadMillis = sentLeadMillis;
    isKnown = true;
  }

  /**
   * Whether the wall clock ran ahead of the monotonic one by 2 s or more since the last request.
   */
  boolean ranAhead(long nano) {
    return isKnown && lead(nano) - leadMillis >= AHEAD_MILLIS_MAX;
  }

  private long lead(long nano) {
    return wallMillis.getAsLong() - Math.floorDiv(nano, NANOS_PER_MILLI);
  }
}
