package dev.coatcheck.postgres.group;

import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.postgres.connection.Deadline;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Pauses between the tries of a transaction whose names another transaction holds. */
public final class RetryPause {
  /** How long a call is tried; 100 ms less than a single call has in all. */
  public static final int TRIES_MILLIS_MAX = 800;

  private static final long PAUSE_NANOS_MIN = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long PAUSE_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(30);

  private final long begunNano = System.nanoTime();
  private final int tryMillisMin;

  /**
   * Begins to count the time of the tries.
   *
   * @param tryMillisMin how much time a try needs: with less time left its deadline would end it
   */
  public RetryPause(int tryMillisMin) {
    this.tryMillisMin = tryMillisMin;
  }

  /**
   * Pauses for 2 to 30 ms, where a {@link NonBlockingAttempt} ends; false, without a pause, if
   * there is no time for another try.
   */
  public boolean beforeNextTry() {
    NonBlockingAttempt.leave();
    long triedNanos = System.nanoTime() - begunNano;
    if (triedNanos >= TimeUnit.MILLISECONDS.toNanos(TRIES_MILLIS_MAX)
        || Deadline.current().leftMillis() < tryMillisMin) {
      return false;
    }
    LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(PAUSE_NANOS_MIN, PAUSE_NANOS_MAX));
    return true;
  }
}
