package dev.coatcheck.cluster.change;

import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.group.SingleFlight;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Loads whose callers may leave before the end: a few at a time, one per key. Hanging loads keep
 * their permits, so an unresponsive database gets few queries.
 *
 * @param <K> what is loaded
 */
final class BoundedRefresh<K, V> {
  private final Semaphore permits;
  private final SingleFlight<K, V> loads = new SingleFlight<>();

  BoundedRefresh(int runningMax) {
    this.permits = new Semaphore(runningMax);
  }

  /**
   * Loads, or waits for another caller's load of the same key. The load has a deadline of its own,
   * because callers with later ones than that of this thread may share it.
   *
   * @param patience until when to wait
   * @throws DatabaseUnavailable if there is no answer by then
   */
  V run(K key, Deadline patience, Supplier<V> load) {
    NonBlockingAttempt.leave();
    return SingleFlight.await(
            loads.start(key, task -> begin(task, patience.leftNanos()), load), patience.leftNanos())
        .orElseThrow(() -> new DatabaseUnavailable("refresh"));
  }

  /** Loads in the background for later callers, unless too many loads are running. Never waits. */
  void begin(K key, Supplier<V> load) {
    var _ = loads.start(key, task -> begin(task, 0), load);
  }

  private void begin(Runnable task, long waitNanosMax) {
    if (!isIn(waitNanosMax)) {
      throw new DatabaseUnavailable("refresh");
    }
    Thread.startVirtualThread(
        () -> {
          try {
            Deadline.ofAnswer().run(task::run);
          } finally {
            permits.release();
          }
        });
  }

  private boolean isIn(long waitNanosMax) {
    try {
      return permits.tryAcquire(waitNanosMax, TimeUnit.NANOSECONDS);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
