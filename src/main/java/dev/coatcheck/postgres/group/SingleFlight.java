package dev.coatcheck.postgres.group;

import dev.coatcheck.core.attempt.NonBlockingAttempt;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Work that several callers of this process want at the same time: the first caller does it, the
 * others wait for its result. Nothing is remembered after the end.
 *
 * @param <K> tells one piece of work from another
 * @param <V> the result
 */
public final class SingleFlight<K, V> {
  private final ConcurrentMap<K, CompletableFuture<V>> underWay = new ConcurrentHashMap<>();

  /**
   * Does the work on this thread, unless another caller does it. Either may wait, so a {@link
   * NonBlockingAttempt} ends here.
   *
   * @param follow what to return in that case; takes the result of the other caller
   */
  public V call(K key, Supplier<V> work, Function<Future<V>, V> follow) {
    NonBlockingAttempt.leave();
    CompletableFuture<V> mine = new CompletableFuture<>();
    CompletableFuture<V> earlier = underWay.putIfAbsent(key, mine);
    if (earlier != null) {
      return follow.apply(earlier);
    }
    complete(key, mine, work);
    return await(mine, 0).orElseThrow();
  }

  /**
   * Begins the work on a thread of the executor, unless another caller has begun it.
   *
   * @return the result; exceptional if the executor refused the work
   */
  public Future<V> start(K key, Executor executor, Supplier<V> work) {
    CompletableFuture<V> mine = new CompletableFuture<>();
    CompletableFuture<V> earlier = underWay.putIfAbsent(key, mine);
    if (earlier != null) {
      return earlier;
    }
    try {
      executor.execute(() -> complete(key, mine, work));
    } catch (RuntimeException refused) {
      underWay.remove(key, mine);
      mine.completeExceptionally(refused);
    }
    return mine;
  }

  /** Waits for a result, or for its exception; empty if there is none in time. */
  public static <V> Optional<V> await(Future<V> result, long nanosMax) {
    return await(() -> result.get(Math.max(0, nanosMax), TimeUnit.NANOSECONDS));
  }

  /** Waits for a result, or for its exception; empty if the thread is interrupted. */
  static <V> Optional<V> await(Future<V> result) {
    return await(result::get);
  }

  private interface Wait<V> {
    V get() throws ExecutionException, InterruptedException, TimeoutException;
  }

  private static <V> Optional<V> await(Wait<V> wait) {
    try {
      return Optional.of(wait.get());
    } catch (TimeoutException late) {
      return Optional.empty();
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof RuntimeException thrown) {
        throw thrown;
      }
      throw new CompletionException(failed.getCause());
    }
  }

  private void complete(K key, CompletableFuture<V> mine, Supplier<V> work) {
    try {
      mine.complete(work.get());
    } catch (Throwable thrown) {
      mine.completeExceptionally(thrown);
    } finally {
      underWay.remove(key, mine);
    }
  }
}
