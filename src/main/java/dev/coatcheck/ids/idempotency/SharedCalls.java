package dev.coatcheck.ids.idempotency;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Requests of this process that came with the same key at the same time: the first one works, the
 * others wait for what it gets.
 *
 * @param <T> the outcome
 */
public final class SharedCalls<T> {
  private final ConcurrentMap<IdempotencyKey, CompletableFuture<T>> underWay =
      new ConcurrentHashMap<>();

  /**
   * What became of a call.
   *
   * @param own whether this caller did the work
   */
  public record Shared<T>(T outcome, boolean own) {}

  /**
   * Does the work, or waits for whoever does it already.
   *
   * @return empty if the other one isn't done in time
   */
  public Optional<Shared<T>> call(IdempotencyKey key, long waitMillisMax, Supplier<T> work) {
    CompletableFuture<T> mine = new CompletableFuture<>();
    CompletableFuture<T> first = underWay.putIfAbsent(key, mine);
    if (first != null) {
      return await(first, waitMillisMax).map(outcome -> new Shared<>(outcome, false));
    }
    try {
      T outcome = work.get();
      mine.complete(outcome);
      return Optional.of(new Shared<>(outcome, true));
    } catch (RuntimeException | Error failed) {
      mine.completeExceptionally(failed);
      throw failed;
    } finally {
      underWay.remove(key, mine);
    }
  }

  private static <T> Optional<T> await(CompletableFuture<T> first, long waitMillisMax) {
    try {
      return Optional.of(first.get(waitMillisMax, TimeUnit.MILLISECONDS));
    } catch (TimeoutException stillRunning) {
      return Optional.empty();
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof RuntimeException known) {
        throw known;
      }
      throw new CompletionException(failed.getCause());
    }
  }
}
