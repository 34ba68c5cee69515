package dev.coatcheck.postgres.group;

import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.connection.DeadlineSweep;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.LockTimeout;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Calls that write, in few transactions. Single calls that come at the same time share a
 * transaction; a batch has a transaction to itself, and 5 s from its beginning.
 *
 * <p>A name that another transaction works on never holds up a group: the call that brings the name
 * leaves the group, is tried again for up to 800 ms, and is then told that it is busy. If a group
 * is rolled back, each of its calls is tried alone, so that a failure meets only the call that
 * caused it. If the database failed a group, each call that may be repeated joins another one.
 *
 * @param <C> a call
 * @param <R> its outcome
 */
public final class GroupCommit<C extends GroupCommit.Call, R> {
  private static final int GROUP_CALLS_MAX = 100;
  private static final int GROUP_LOCK_MILLIS = 25;
  private static final int ROUNDS_MAX = 8;
  private static final Duration BATCH = Duration.ofSeconds(5);

  private static final int LOCK_SPARE_MILLIS = 50;

  private final String operation;
  private final Limits limits;
  private final Transaction<C, R> transaction;
  private final R busy;
  private final R overloaded;
  private final Coalescer<C, Attempt<R>> groups;

  public interface Call {
    /** Whether it has a transaction to itself. */
    boolean isBatch();

    /** Whether another transaction may work on the same rows. */
    default boolean bringsNames() {
      return true;
    }

    /** Whether it comes to the same if it is done again, so that an unknown outcome is no end. */
    default boolean isRepeatable() {
      return true;
    }
  }

  /** What a transaction did about a call. */
  public sealed interface Attempt<R> {
    record Done<R>(R outcome) implements Attempt<R> {}

    /** Another transaction holds one of its names; nothing was done about this call. */
    record Held<R>() implements Attempt<R> {}

    /** The group was rolled back, for the sake of some call of it. */
    record Undone<R>() implements Attempt<R> {}
  }

  /** Works on calls in one transaction. */
  @FunctionalInterface
  public interface Transaction<C, R> {
    /**
     * Works on all calls; what it returns is committed.
     *
     * @param lockMillisMax how long to wait for a row that another transaction is about to write
     * @throws LostRace to be tried again
     * @throws LockTimeout if a row was not to be had; nothing was done
     */
    List<Attempt<R>> run(List<C> calls, int lockMillisMax);
  }

  /**
   * How many transactions are under way at a time.
   *
   * @param groups of single calls
   * @param spareGroups of single calls that wait while these are late
   * @param singles of single calls that are tried alone, because their group was rolled back
   * @param batches of batches
   * @param batchWaitMillisMax how long a batch waits for its turn
   */
  public record Limits(
      int groups, int spareGroups, Semaphore singles, Semaphore batches, int batchWaitMillisMax) {}

  /**
   * Shares {@code transaction}.
   *
   * @param operation for messages
   * @param busy for a call that names what another transaction works on, when its time is over
   * @param overloaded for a batch that did not get its turn
   */
  public GroupCommit(
      String operation, Limits limits, Transaction<C, R> transaction, R busy, R overloaded) {
    this.operation = operation;
    this.limits = limits;
    this.transaction = transaction;
    this.busy = busy;
    this.overloaded = overloaded;
    this.groups =
        new Coalescer<>(
            operation,
            limits.groups(),
            limits.spareGroups(),
            GROUP_CALLS_MAX,
            DeadlineSweep.SHARED,
            this::together);
  }

  /**
   * Settles a call, and returns after the commit.
   *
   * @throws DatabaseUnavailable if the outcome is unknown
   */
  public R settle(C call) {
    return call.isBatch() ? Deadline.after(BATCH).call(() -> tried(call)) : tried(call);
  }

  private R tried(C call) {
    RetryPause pause = new RetryPause();
    boolean shares = !call.isBatch();
    boolean repeats = call.isRepeatable() && shares;
    while (true) {
      Attempt<R> attempt;
      try {
        attempt = shares ? groups.call(call) : alone(call);
      } catch (DatabaseUnavailable failed) {
        if (!repeats || !pause.beforeNextTry()) {
          throw failed;
        }
        repeats = false;
        continue;
      }
      switch (attempt) {
        case Attempt.Done<R>(R outcome) -> {
          return outcome;
        }
        case Attempt.Undone<R> _ -> {
          NonBlockingAttempt.leave();
          shares = false;
        }
        case Attempt.Held<R> _ -> {
          if (!pause.beforeNextTry()) {
            return busy;
          }
        }
      }
    }
  }

  private List<Attempt<R>> together(List<C> calls) {
    try {
      return transaction.run(calls, GROUP_LOCK_MILLIS);
    } catch (LostRace again) {
      return undone(calls);
    } catch (LockTimeout held) {
      if (calls.stream().noneMatch(Call::bringsNames)) {
        throw held; // no transaction works on a name of theirs: the table is locked
      }
      return undone(calls);
    } catch (DatabaseUnavailable outage) {
      throw outage;
    } catch (RuntimeException bug) {
      if (calls.size() == 1) {
        throw bug;
      }
      return undone(calls);
    }
  }

  private List<Attempt<R>> undone(List<C> calls) {
    return calls.stream().<Attempt<R>>map(_ -> new Attempt.Undone<>()).toList();
  }

  private Attempt<R> alone(C call) {
    Semaphore permits = call.isBatch() ? limits.batches() : limits.singles();
    if (!isIn(
        permits, call.isBatch() ? limits.batchWaitMillisMax() : RetryPause.TRIES_MILLIS_MAX)) {
      if (!call.isBatch() && !call.bringsNames()) {
        throw new DatabaseUnavailable(operation);
      }
      return new Attempt.Done<>(call.isBatch() ? overloaded : busy);
    }
    try {
      return rounds(call);
    } finally {
      permits.release();
    }
  }

  private static boolean isIn(Semaphore permits, int waitMillisMax) {
    try {
      long leftMillis = Deadline.current().leftMillis() - RetryPause.TRY_MILLIS_MIN;
      return permits.tryAcquire(Math.min(waitMillisMax, leftMillis), TimeUnit.MILLISECONDS);
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private Attempt<R> rounds(C call) {
    for (int round = 0; round < ROUNDS_MAX; round++) {
      try {
        return transaction.run(List.of(call), lockMillis()).getFirst();
      } catch (LostRace again) {
        // What the other transaction wrote is in the database now.
      } catch (LockTimeout held) {
        if (!call.bringsNames()) {
          throw held;
        }
        return new Attempt.Done<>(busy);
      }
    }
    throw new IllegalStateException(operation + ": lost " + ROUNDS_MAX + " races");
  }

  /** So that the server gives up before we do, and the connection stays usable. */
  private static int lockMillis() {
    long leftMillis = Deadline.current().leftMillis() - LOCK_SPARE_MILLIS;
    return Math.clamp(leftMillis, 1, RetryPause.TRIES_MILLIS_MAX);
  }
}
