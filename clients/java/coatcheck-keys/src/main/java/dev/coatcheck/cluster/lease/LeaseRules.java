package dev.coatcheck.cluster.lease;

import dev.coatcheck.core.key.SnowflakeLayout;

/**
 * The three decisions that a holder makes about time. A type of its own so that a test can break
 * each on purpose and see its suite go red.
 */
class LeaseRules {
  static final LeaseRules KEPT = new LeaseRules();

  // Room for one full draw of the default layout at once, 4 ms, begun late in a millisecond.
  private static final long AHEAD_MILLIS_MAX = 5;

  /** The last millisecond that may be used: within the window, and hardly ahead of time. */
  long lastMillis(long untilMillis, long estimateMillis) {
    return Math.min(untilMillis, estimateMillis + AHEAD_MILLIS_MAX);
  }

  /**
   * The first position of a window that was granted after {@code millis}. A tick belongs to the
   * window in which it begins: the window before may have the tick that {@code millis} is part of.
   */
  long firstPosition(SnowflakeLayout layout, long millis) {
    return layout.positionFrom(millis + 1);
  }

  /** The estimate after a renewal. */
  ClockEstimate renewed(ClockEstimate before, long nowMillis, long sentNano, long receivedNano) {
    return before.within(nowMillis, sentNano, receivedNano);
  }
}
