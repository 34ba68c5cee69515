package dev.coatcheck.cluster.lease;

/** The database's time as a holder estimates it: a base, and the monotonic clock since. */
record ClockEstimate(long baseNanos, long atNano) {
  private static final long NANOS_PER_MILLI = 1_000_000L;

  static ClockEstimate ofMillis(long millis, long atNano) {
    return new ClockEstimate(millis * NANOS_PER_MILLI, atNano);
  }

  private long nanos(long nano) {
    return baseNanos + (nano - atNano);
  }

  long millis(long nano) {
    return Math.floorDiv(nanos(nano), NANOS_PER_MILLI);
  }

  /**
   * The same estimate held within what a reply proves: the database's clock stood at {@code
   * nowMillis} at some moment of the round trip.
   */
  ClockEstimate within(long nowMillis, long sentNano, long receivedNano) {
    long earliest = nowMillis * NANOS_PER_MILLI;
    long latest = earliest + Math.max(0, receivedNano - sentNano);
    return new ClockEstimate(
        Math.min(Math.max(nanos(receivedNano), earliest), latest), receivedNano);
  }
}
