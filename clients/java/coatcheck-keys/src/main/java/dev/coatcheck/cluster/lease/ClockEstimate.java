package dev.coatcheck.cluster.lease;

/**
 * The database's time as a holder estimates it.
 *
 * @param aheadNanos how far it is ahead of the monotonic clock
 */
record ClockEstimate(long aheadNanos) {
  private static final long NANOS_PER_MILLI = 1_000_000L;

  static ClockEstimate ofMillis(long millis, long atNano) {
    return new ClockEstimate(millis * NANOS_PER_MILLI - atNano);
  }

  private long nanos(long nano) {
    return nano + aheadNanos;
  }

  /** Unix milliseconds, which are positive. */
  long millis(long nano) {
    return nanos(nano) / NANOS_PER_MILLI;
  }

  /** When a millisecond begins, by the monotonic clock. */
  long nanoAt(long millis) {
    return millis * NANOS_PER_MILLI - aheadNanos;
  }

  /**
   * The same estimate held within what a reply proves: the database's clock stood at {@code
   * nowMillis} at some moment of the round trip.
   */
  ClockEstimate within(long nowMillis, long sentNano, long receivedNano) {
    long earliest = nowMillis * NANOS_PER_MILLI;
    long latest = earliest + Math.max(0, receivedNano - sentNano);
    return new ClockEstimate(
        Math.min(Math.max(nanos(receivedNano), earliest), latest) - receivedNano);
  }
}
