package dev.coatcheck.postgres.group;

import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.postgres.connection.Deadline;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Pauses between the tries of a transaction whose names another transaction holds, from its first
 * try on.
 */
public final class RetryPause {
  /** How long a call is tried; 100 ms less than a single call has in all. */
  public static final int TRIES_MILLIS_MAX = 800;

  /** The time for a try: with 250 ms left or less the pool lends no connection. */
  static final int TRY_MILLIS_MIN = 280;

  private static final long PAUSE_NANOS_MIN = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long PAUSE_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(30);

  private final long begunNano = System.nanoTime();

  /**
   * Pauses for 2 to 30 ms, where a {@link NonBlockingAttempt} ends; false, without a pause, if
   * there is no time for another try after it.
   */
  public boolean beforeNextTry() {
    NonBlockingAttempt.leave();
    long triedNanos = System.nanoTime() - begunNano;
    long pauseNanos = ThreadLocalRandom.current().nextLong(PAUSE_NANOS_MIN, PAUSE_NANOS_MAX);
    if (triedNanos >= TimeUnit.MILLISECONDS.toNanos(TRIES_MILLIS_MAX)
        || Deadline.current().leftNanos() - pauseNanos
            < TimeUnit.MILLISECONDS.toNanos(TRY_MILLIS_MIN)) {
      return false;
    }
    LockSupport.parkNanos(pauseNanos);
    return true;
  }
}
