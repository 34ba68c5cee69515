package dev.coatcheck.cluster.change;

import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.Deadline;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Loads that others don't wait for to the end: few at a time, one of each kind. Those that hang
 * keep their permits, so that a database that doesn't answer is soon left alone.
 *
 * @param <K> what is loaded
 */
final class Refreshes<K, V> {
  private final Semaphore permits;
  private final Map<K, CompletableFuture<V>> running = new ConcurrentHashMap<>();

  Refreshes(int runningMax) {
    this.permits = new Semaphore(runningMax);
  }

  /**
   * Loads, or waits for another caller's load of the same. The load itself has the thread's
   * deadline.
   *
   * @param patience until when to wait
   * @throws DatabaseUnavailable if there is no answer by then
   */
  V run(K key, Deadline patience, Supplier<V> load) {
    try {
      CompletableFuture<V> mine = new CompletableFuture<>();
      CompletableFuture<V> earlier = running.putIfAbsent(key, mine);
      if (earlier != null) {
        return earlier.get(patience.leftNanos(), TimeUnit.NANOSECONDS);
      }
      if (!permits.tryAcquire(patience.leftNanos(), TimeUnit.NANOSECONDS)) {
        giveUp(key, mine);
        throw new DatabaseUnavailable("refresh");
      }
      start(key, mine, Deadline.current(), load);
      return mine.get(patience.leftNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException late) {
      throw new DatabaseUnavailable("refresh");
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new DatabaseUnavailable("refresh");
    } catch (ExecutionException failed) {
      throw failed.getCause() instanceof RuntimeException thrown
          ? thrown
          : new IllegalStateException(failed.getCause());
    }
  }

  /** Loads for those who ask later, unless enough others do. Never waits. */
  void begin(K key, Supplier<V> load) {
    CompletableFuture<V> mine = new CompletableFuture<>();
    if (running.putIfAbsent(key, mine) == null) {
      if (permits.tryAcquire()) {
        start(key, mine, Deadline.ofAnswer(), load);
      } else {
        giveUp(key, mine);
      }
    }
  }

  private void giveUp(K key, CompletableFuture<V> mine) {
    running.remove(key, mine);
    mine.completeExceptionally(new DatabaseUnavailable("refresh"));
  }

  private void start(K key, CompletableFuture<V> mine, Deadline deadline, Supplier<V> load) {
    Thread.startVirtualThread(() -> deadline.run(() -> complete(key, mine, load)));
  }

  private void complete(K key, CompletableFuture<V> mine, Supplier<V> load) {
    try {
      mine.complete(load.get());
    } catch (Throwable thrown) {
      mine.completeExceptionally(thrown);
    } finally {
      running.remove(key, mine);
      permits.release();
    }
  }
}
