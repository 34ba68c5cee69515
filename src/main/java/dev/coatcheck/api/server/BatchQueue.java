package dev.coatcheck.api.server;

import dev.coatcheck.postgres.connection.Deadline;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Lets a few batches run at a time, so that single requests find a connection of the pool and a
 * core. The others wait in the order of their arrival.
 *
 * <p>A queue smooths a burst. But once a batch times out in the queue, the gateway is overloaded,
 * and a longer queue only adds latency. So for {@value #OVERLOAD_SECONDS} s after each refusal no
 * API key has more than one batch in the queue. Its other batches are refused at once, while their
 * client still listens.
 */
final class BatchQueue {
  /** With less time left, a batch would be broken off. */
  private static final int WORK_MILLIS_MIN = 250;

  /** The longest time that a refused client is told to wait. */
  private static final int OVERLOAD_SECONDS = 3;

  private final Semaphore turns;
  private final int waitMillisMax;
  private final LongSupplier nanoTime;
  private final Map<String, Integer> waiting = new HashMap<>();
  private long calmNano;

  /**
   * @param batchesMax how many run at a time
   * @param waitMillisMax how long a batch waits, if its deadline allows
   */
  BatchQueue(int batchesMax, int waitMillisMax, LongSupplier nanoTime) {
    this.turns = new Semaphore(batchesMax, true);
    this.waitMillisMax = waitMillisMax;
    this.nanoTime = nanoTime;
    this.calmNano = nanoTime.getAsLong();
  }

  /**
   * Waits until the batch may run. {@link #leave} ends its turn.
   *
   * @return whether the batch may run
   */
  boolean enter(String chain) {
    boolean entered = join(chain) && waitForTurn(chain);
    if (!entered) {
      refused();
    }
    return entered;
  }

  void leave() {
    turns.release();
  }

  int length() {
    return turns.getQueueLength();
  }

  private synchronized boolean join(String chain) {
    boolean isOverload = calmNano - nanoTime.getAsLong() > 0;
    if (isOverload && waiting.containsKey(chain)) {
      return false;
    }
    waiting.merge(chain, 1, Integer::sum);
    return true;
  }

  private boolean waitForTurn(String chain) {
    long leftMillis = Deadline.current().leftMillis() - WORK_MILLIS_MIN;
    try {
      return turns.tryAcquire(Math.min(waitMillisMax, leftMillis), TimeUnit.MILLISECONDS);
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      left(chain);
    }
  }

  private synchronized void left(String chain) {
    waiting.computeIfPresent(chain, (_, count) -> count == 1 ? null : count - 1);
  }

  private synchronized void refused() {
    calmNano = nanoTime.getAsLong() + TimeUnit.SECONDS.toNanos(OVERLOAD_SECONDS);
  }
}
