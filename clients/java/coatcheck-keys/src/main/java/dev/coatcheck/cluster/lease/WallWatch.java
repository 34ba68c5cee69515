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
  private long leadMillis;
  private boolean isKnown;

  WallWatch(LongSupplier wallMillis) {
    this.wallMillis = wallMillis;
  }

  /** A reply has told the time: what the two clocks did before it doesn't count. */
  void settled(long nano) {
    leadMillis = lead(nano);
    isKnown = true;
  }

  /** Whether the wall clock ran ahead of the monotonic one by 2 s or more since the last reply. */
  boolean ranAhead(long nano) {
    return isKnown && lead(nano) - leadMillis >= AHEAD_MILLIS_MAX;
  }

  private long lead(long nano) {
    return wallMillis.getAsLong() - Math.floorDiv(nano, NANOS_PER_MILLI);
  }
}
