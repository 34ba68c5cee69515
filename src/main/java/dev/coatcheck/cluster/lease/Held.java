package dev.coatcheck.cluster.lease;

import dev.coatcheck.core.key.Positions;

/**
 * A worker with the window granted so far. Immutable but for its positions, so that a thread which
 * sleeps between reading it and using it still only uses what was granted.
 */
record Held(int worker, long epoch, long untilMillis, Estimate estimate, Positions positions) {
  boolean closed(long nano) {
    return estimate.millis(nano) > untilMillis;
  }

  Held renewed(long newUntilMillis, Estimate newEstimate) {
    return new Held(worker, epoch, Math.max(untilMillis, newUntilMillis), newEstimate, positions);
  }
}
