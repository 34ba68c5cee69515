package dev.coatcheck.cluster.lease;

/**
 * The two decisions that a holder makes about time. A type of its own so that a test can break
 * either on purpose and see its suite go red.
 */
class LeaseRules {
  static final LeaseRules KEPT = new LeaseRules();

  // Room for one full draw of the default layout at once, 4 ms, begun late in a millisecond.
  private static final long AHEAD_MILLIS_MAX = 5;

  /** The last millisecond that may be used: within the window, and hardly ahead of time. */
  long lastMillis(long untilMillis, long estimateMillis) {
    return Math.min(untilMillis, estimateMillis + AHEAD_MILLIS_MAX);
  }

  /** The estimate after a renewal. */
  Estimate renewed(Estimate before, long nowMillis, long sentNano, long receivedNano) {
    return before.within(nowMillis, sentNano, receivedNano);
  }
}
