package dev.coatcheck.cluster.change;

import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Loads while the database is in doubt: few at a time, one of each kind, and nobody waits for long.
 * Those that hang keep their places, so that a database that doesn't answer is soon left alone.
 *
 * @param <K> what is loaded
 */
final class Refreshes<K, V> {
  private static final int RUNNING_MAX = 4;
  private static final long WAIT_MILLIS_MAX = 400;

  private final Semaphore places = new Semaphore(RUNNING_MAX);
  private final Map<K, CompletableFuture<V>> running = new ConcurrentHashMap<>();

  /**
   * Loads, or waits for another caller's load of the same.
   *
   * @throws DatabaseUnavailable if there is no answer in 800 ms
   */
  V run(K key, Supplier<V> load) {
    try {
      CompletableFuture<V> mine = new CompletableFuture<>();
      CompletableFuture<V> earlier = running.putIfAbsent(key, mine);
      if (earlier != null) {
        return earlier.get(WAIT_MILLIS_MAX, TimeUnit.MILLISECONDS);
      }
      if (!places.tryAcquire(WAIT_MILLIS_MAX, TimeUnit.MILLISECONDS)) {
        running.remove(key, mine);
        mine.completeExceptionally(new DatabaseUnavailable("refresh"));
        throw new DatabaseUnavailable("refresh");
      }
      Thread.startVirtualThread(() -> complete(key, mine, load));
      return mine.get(WAIT_MILLIS_MAX, TimeUnit.MILLISECONDS);
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

  private void complete(K key, CompletableFuture<V> mine, Supplier<V> load) {
    try {
      mine.complete(load.get());
    } catch (Throwable thrown) {
      mine.completeExceptionally(thrown);
    } finally {
      running.remove(key, mine);
      places.release();
    }
  }
}
