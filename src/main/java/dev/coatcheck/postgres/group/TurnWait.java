package dev.coatcheck.postgres.group;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * How long a batch waits for its turn. A queue that comes and goes is a burst, which waiting
 * smooths. A queue that was not empty for as long as a batch waits is an overload: waiting longer
 * would serve no more batches, each of them later. So a batch waits {@value #STANDING_MILLIS} ms at
 * most then, and is refused while its client still listens.
 *
 * <p>Source: Ben Maurer, "Fail at Scale", ACM Queue 13(8), 2015, section "Controlled Delay".
 */
final class TurnWait {
  private static final int STANDING_MILLIS = 20;

  private final Semaphore turns;
  private final int millisMax;
  private final LongSupplier nanoTime;
  private volatile long emptyNano;

  /**
   * Starts with an empty queue.
   *
   * @param millisMax how long a batch waits in a queue that comes and goes
   */
  TurnWait(Semaphore turns, int millisMax, LongSupplier nanoTime) {
    this.turns = turns;
    this.millisMax = millisMax;
    this.nanoTime = nanoTime;
    this.emptyNano = nanoTime.getAsLong();
  }

  /** For a batch that comes now. */
  int millis() {
    long now = nanoTime.getAsLong();
    if (!turns.hasQueuedThreads()) {
      emptyNano = now;
    }
    boolean stands = now - emptyNano > TimeUnit.MILLISECONDS.toNanos(millisMax);
    return stands ? Math.min(STANDING_MILLIS, millisMax) : millisMax;
  }
}
