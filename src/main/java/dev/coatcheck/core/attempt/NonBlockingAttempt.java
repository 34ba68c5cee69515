package dev.coatcheck.core.attempt;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.Supplier;

/**
 * Runs work on a thread that must not wait: it reads the requests of many clients, or sends the
 * answers of many. The work is ordinary code, the same that runs on threads which may wait. Where
 * it is about to wait, it says so here, and the attempt ends there. This is how one mint is
 * answered:
 *
 * <ol>
 *   <li>{@code FrontRequest} calls {@link #run}. The work looks the API key up in memory, parses
 *       the body inside {@link #once}, and brings the mint to its {@code GroupCommit}.
 *   <li>The group commit calls {@link #await} for the row. There is none yet, so {@code await}
 *       throws, which ends the attempt; {@code run} returns {@link Outcome.Awaits}.
 *   <li>{@code FrontRequest} takes a permit and a deadline, and calls {@code start}, which puts the
 *       mint into the next group. The thread is free.
 *   <li>The thread of the group commits the rows of all its mints. A thread that hands out their
 *       results calls {@code run} again, which begins from the start: the API key is looked up once
 *       more, {@code once} returns the body that was parsed before, and {@code await} returns the
 *       row.
 *   <li>So the work comes to its end, {@code run} returns {@link Outcome.Done} with the answer, and
 *       the same thread sends it.
 * </ol>
 *
 * <p>Had the API key not been in memory, {@link #leave} would have ended the first attempt with
 * {@link Outcome.Left}, and the mint would have gone to a thread that may wait. Each use of a
 * connection to Postgres calls {@code leave}, so that no wait is missed.
 *
 * <p><b>Why from the start.</b> Java has no continuations for code that runs on a selector, and
 * futures would take a second version of each method on the way. Deciding again reads memory, costs
 * a microsecond, and is right at the time of the answer: a key that was revoked during the wait is
 * refused.
 *
 * <p><b>What the work must keep to.</b> It has no effects before its last {@code await}: no log, no
 * metric, no entry in a cache; or only effects that a repetition doesn't add to. An exception in a
 * result is thrown by {@code await}, as it would be by the wait itself.
 *
 * <p>On a thread that may wait, {@link #leave} does nothing and {@link #once} is a plain call.
 *
 * @param <T> the result
 */
public final class NonBlockingAttempt<T> {
  private static final ScopedValue<NonBlockingAttempt<?>> CURRENT = ScopedValue.newInstance();

  private final Supplier<T> work;
  private final List<Kept> kept = new ArrayList<>();

  /**
   * What an attempt leaves for the ones after it. There are a few at most, so they are compared and
   * not hashed: the hash of a mint would take in all of its type.
   */
  private record Kept(Object what, Object result) {}

  /** For one thread at a time. */
  public NonBlockingAttempt(Supplier<T> work) {
    this.work = work;
  }

  /** How far the work came. */
  public sealed interface Outcome<T> {
    record Done<T>(T result) implements Outcome<T> {}

    /** The work needs a result; {@code start} begins to get it. */
    record Awaits<T>(Supplier<? extends CompletableFuture<?>> start) implements Outcome<T> {}

    /** The work has to run on a thread that may wait. */
    record Left<T>() implements Outcome<T> {}
  }

  /** Ends an attempt. */
  private static final class Leaving extends RuntimeException {
    private final transient Optional<Supplier<CompletableFuture<?>>> start;

    Leaving(Optional<Supplier<CompletableFuture<?>>> start) {
      super("would wait", null, false, false);
      this.start = start;
    }
  }

  /** Runs the work from its beginning. What the work throws is thrown. */
  public Outcome<T> run() {
    try {
      return new Outcome.Done<>(
          ScopedValue.where(CURRENT, this).<T, RuntimeException>call(work::get));
    } catch (Leaving leaving) {
      return leaving.start.<Outcome<T>>map(Outcome.Awaits::new).orElseGet(Outcome.Left::new);
    }
  }

  /** Whether this thread runs an attempt, and so must not wait. */
  public static boolean isRunning() {
    return CURRENT.isBound();
  }

  /** The work on this thread is about to wait, to log, or to take long. */
  public static void leave() {
    if (isRunning()) {
      throw new Leaving(Optional.empty());
    }
  }

  /**
   * The result of what {@code start} began, in an attempt after that; the attempts before end here.
   * Only where {@link #isRunning}.
   *
   * @param what tells one result of this work from another, by its {@code equals}
   */
  @SuppressWarnings("unchecked") // kept under a name that only this caller makes
  public static <A> A await(Object what, Supplier<CompletableFuture<A>> start) {
    NonBlockingAttempt<?> work = CURRENT.get();
    Future<A> begun =
        (Future<A>)
            work.kept(what)
                .orElseThrow(() -> new Leaving(Optional.of(() -> work.keep(what, start.get()))));
    return switch (begun.state()) {
      case SUCCESS -> begun.resultNow();
      case FAILED -> throw failure(begun.exceptionNow());
      case RUNNING, CANCELLED -> throw new IllegalStateException("run before the result");
    };
  }

  /** What {@code first} gave in the first of all attempts. */
  @SuppressWarnings("unchecked") // kept under a name that only this caller makes
  public static <A> A once(Object what, Supplier<A> first) {
    if (!isRunning()) {
      return first.get();
    }
    NonBlockingAttempt<?> work = CURRENT.get();
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
