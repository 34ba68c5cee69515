package dev.coatcheck.api.body;

import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Breaks an answer off once its client has no access any more, also while a slow client is waited
 * for. During an outage of Postgres nothing is known, and the answer continues.
 */
final class AccessWatch implements AutoCloseable {
  private static final long LOOK_MILLIS = 500;
  private static final Duration LAST_LOOK_MAX = Duration.ofSeconds(5);

  private final BooleanSupplier mayRead;
  private final Runnable breakOff;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread watcher = Thread.ofVirtual().name("access-watch").unstarted(this::watch);
  private volatile boolean ended;

  private AccessWatch(BooleanSupplier mayRead, Runnable breakOff) {
    this.mayRead = mayRead;
    this.breakOff = breakOff;
  }

  /**
   * Starts watching.
   *
   * @param mayRead asked twice a second, from another thread, until this is closed
   * @param breakOff must not wait; called once at most, never after {@link #close}
   */
  static AccessWatch start(BooleanSupplier mayRead, Runnable breakOff) {
    AccessWatch watch = new AccessWatch(mayRead, breakOff);
    watch.watcher.start();
    return watch;
  }

  /** Whether the answer was broken off. */
  boolean hasEnded() {
    return ended;
  }

  private void watch() {
    try {
      while (!closed.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
        if (!isAllowed()) {
          breakOffOnce();
          return;
        }
      }
    } catch (InterruptedException impossible) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean isAllowed() {
    try {
      return mayRead.getAsBoolean();
    } catch (DatabaseUnavailable unknown) {
      return true;
    }
  }

  private synchronized void breakOffOnce() {
    if (closed.getCount() > 0) {
      ended = true;
      breakOff.run();
    }
  }

  /** Waits for the last look, which reads the request. */
  @Override
  public void close() {
    synchronized (this) {
      closed.countDown();
    }
    try {
      boolean _ = watcher.join(LAST_LOOK_MAX);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
