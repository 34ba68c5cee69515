package dev.coatcheck.api.body;

import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Breaks an answer off once its client has left or has no access any more, also while a slow client
 * is waited for. During an outage of Postgres nothing is known of its access, and the answer
 * continues.
 */
final class ReaderWatch implements AutoCloseable {
  private static final long LOOK_MILLIS = 500;
  private static final Duration LAST_LOOK_MAX = Duration.ofSeconds(5);

  private final BooleanSupplier hasLeft;
  private final BooleanSupplier mayRead;
  private final Runnable breakOff;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread watcher = Thread.ofVirtual().name("reader-watch").unstarted(this::watch);
  private volatile boolean accessEnded;

  private ReaderWatch(BooleanSupplier hasLeft, BooleanSupplier mayRead, Runnable breakOff) {
    this.hasLeft = hasLeft;
    this.mayRead = mayRead;
    this.breakOff = breakOff;
  }

  /**
   * Starts watching.
   *
   * @param hasLeft asked twice a second, from another thread, until this is closed; so is {@code
   *     mayRead}
   * @param breakOff must not wait; called once at most, never after {@link #close}
   */
  static ReaderWatch start(BooleanSupplier hasLeft, BooleanSupplier mayRead, Runnable breakOff) {
    ReaderWatch watch = new ReaderWatch(hasLeft, mayRead, breakOff);
    watch.watcher.start();
    return watch;
  }

  /** Whether the answer was broken off because its client lost its access. */
  boolean hasAccessEnded() {
    return accessEnded;
  }

  private void watch() {
    try {
      while (!closed.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
        boolean left = hasLeft.getAsBoolean();
        if (left || !isAllowed()) {
          breakOffOnce(!left);
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

  private synchronized void breakOffOnce(boolean accessEnded) {
    if (closed.getCount() > 0) {
      this.accessEnded = accessEnded;
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
