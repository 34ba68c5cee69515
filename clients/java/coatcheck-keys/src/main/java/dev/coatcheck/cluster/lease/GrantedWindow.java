package dev.coatcheck.cluster.lease;

import dev.coatcheck.core.key.Positions;

/**
 * A worker with the window granted so far. Immutable but for its positions, so that a thread which
 * sleeps between reading it and using it still only uses what was granted.
 */
record GrantedWindow(
    int worker, long epoch, long untilMillis, ClockEstimate estimate, Positions positions) {
  boolean closed(long nano) {
    return estimate.millis(nano) > untilMillis;
  }

  /** The same with an earlier end. */
  GrantedWindow endingAt(long earlierMillis) {
    return new GrantedWindow(worker, epoch, earlierMillis, estimate, positions);
  }

  GrantedWindow renewed(long newUntilMillis, ClockEstimate newEstimate) {
    return new GrantedWindow(
        worker, epoch, Math.max(untilMillis, newUntilMillis), newEstimate, positions);
  }
}
