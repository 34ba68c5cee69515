package dev.coatcheck.postgres.connection;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.Supplier;

/**
 * Work that never makes its thread wait. It runs on a thread that reads the requests of many
 * clients, or that hands out the answers of many, so one wait there would be a wait for all.
 *
 * <p><b>How.</b> The work is ordinary code, the same that runs on threads which may wait. Where it
 * is about to wait, it says so here first, and that ends the attempt:
 *
 * <ul>
 *   <li>{@link #leave}: nothing can be done about it; the caller runs the work on another thread.
 *   <li>{@link #await}: the work needs a result of another thread. The caller starts that thread's
 *       work and lets its own thread go. The thread that has the result attempts the work again,
 *       from its beginning; this time {@code await} returns the result at once.
 * </ul>
 *
 * <p><b>Why again from the beginning.</b> Java has no continuations for code that runs on a
 * selector. A second version of every method on the way, with futures, would be two versions of
 * each decision: who may call, what is cached, what is answered. So the decisions are made again.
 * They read memory, cost a microsecond, and are right at the time of the answer: a key that was
 * revoked during the wait is refused.
 *
 * <p><b>What the work must keep to.</b> It has no effects before its last {@code await}: no log, no
 * metric, no entry in a cache; or only an effect that a repetition doesn't add to, such as the note
 * that a visitor asked for a number. What has to be known from before the wait, such as how much of
 * the change feed had been read, it gets from {@link #once}. An exception in a result is thrown by
 * {@code await}, as it would be by the wait itself.
 *
 * <p><b>What if a wait does not say so.</b> {@link Connections} says it for each use of Postgres.
 *
 * <p>On a thread that may wait, {@link #leave} does nothing and {@link #once} is a plain call.
 *
 * @param <T> the result
 */
public final class WithoutWaiting<T> {
  private static final ScopedValue<WithoutWaiting<?>> CURRENT = ScopedValue.newInstance();

  private final Supplier<T> work;
  private final List<Kept> kept = new ArrayList<>();

  /**
   * What an attempt leaves for the ones after it. There are a few at most, so they are compared and
   * not hashed: the hash of a mint would take in all of its type.
   */
  private record Kept(Object what, Object result) {}

  /** Work to be attempted by one thread at a time. */
  public WithoutWaiting(Supplier<T> work) {
    this.work = work;
  }

  /** How far an attempt came. */
  public sealed interface Attempt<T> {
    record Done<T>(T result) implements Attempt<T> {}

    /** The work needs a result; {@code start} begins to work that out. */
    record Awaits<T>(Supplier<? extends CompletableFuture<?>> start) implements Attempt<T> {}

    /** The work has to wait. */
    record Left<T>() implements Attempt<T> {}
  }

  /** Ends an attempt. */
  private static final class Leaving extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Optional<Supplier<CompletableFuture<?>>> start;

    Leaving(Optional<Supplier<CompletableFuture<?>>> start) {
      super("would wait", null, false, false);
      this.start = start;
    }
  }

  /** Runs the work from its beginning. What the work throws is thrown. */
  public Attempt<T> attempt() {
    try {
      return new Attempt.Done<>(
          ScopedValue.where(CURRENT, this).<T, RuntimeException>call(work::get));
    } catch (Leaving leaving) {
      return leaving.start.<Attempt<T>>map(Attempt.Awaits::new).orElseGet(Attempt.Left::new);
    }
  }

  /** Whether this thread must not wait. */
  public static boolean isRequired() {
    return CURRENT.isBound();
  }

  /** The work on this thread is about to wait, to log, or to take long. */
  public static void leave() {
    if (isRequired()) {
      throw new Leaving(Optional.empty());
    }
  }

  /**
   * The result of what {@code start} began, in an attempt after that; the attempts before end here.
   * Only where {@link #isRequired}.
   *
   * @param what tells one result of this work from another, by its {@code equals}
   */
  @SuppressWarnings("unchecked") // kept under a name that only this caller makes
  public static <A> A await(Object what, Supplier<CompletableFuture<A>> start) {
    WithoutWaiting<?> work = CURRENT.get();
    Future<A> begun =
        (Future<A>)
            work.kept(what)
                .orElseThrow(() -> new Leaving(Optional.of(() -> work.keep(what, start.get()))));
    return switch (begun.state()) {
      case SUCCESS -> begun.resultNow();
      case FAILED -> throw failure(begun.exceptionNow());
      case RUNNING, CANCELLED -> throw new IllegalStateException("attempted before the result");
    };
  }

  /** What {@code first} gave in the first of all attempts. */
  @SuppressWarnings("unchecked") // kept under a name that only this caller makes
  public static <A> A once(Object what, Supplier<A> first) {
    if (!isRequired()) {
      return first.get();
    }
    WithoutWaiting<?> work = CURRENT.get();
    return (A) work.kept(what).orElseGet(() -> work.keep(what, first.get()));
  }

  private Optional<Object> kept(Object what) {
    for (Kept each : kept) {
      if (each.what().equals(what)) {
        return Optional.of(each.result());
      }
    }
    return Optional.empty();
  }

  private <A> A keep(Object what, A result) {
    kept.add(new Kept(what, result));
    return result;
  }

  private static RuntimeException failure(Throwable thrown) {
    return thrown instanceof RuntimeException failed ? failed : new IllegalStateException(thrown);
  }
}
