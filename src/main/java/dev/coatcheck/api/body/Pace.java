package dev.coatcheck.api.body;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Ends a transfer whose client is slower than a minimum rate. Only the time counts in which the
 * gateway waits for the client, so a slow database is nobody's fault here. Jetty's own minimum
 * rates look when bytes arrive; a client that does nothing never meets them.
 *
 * <p>A client may fall behind the rate for up to 10 s, for instance while it writes to a disk, and
 * catch up by being faster. It gets no credit for having been fast before.
 */
final class Pace implements AutoCloseable {
  private static final int BYTES_A_SECOND_MIN = 16 * 1024;
  private static final long BEHIND_NANOS_MAX = Duration.ofSeconds(10).toNanos();
  private static final long CHECK_NANOS = Duration.ofMillis(200).toNanos();
  private static final long NANOS_PER_BYTE = Duration.ofSeconds(1).toNanos() / BYTES_A_SECOND_MIN;

  private final Runnable breakOff;
  private final Thread watcher = Thread.ofVirtual().name("pace").unstarted(this::watch);
  private boolean waiting;
  private boolean tooSlow;
  private boolean closed;
  private long behindNanos;
  private long waitingSinceNano;

  private Pace(Runnable breakOff) {
    this.breakOff = breakOff;
  }

  /**
   * Begins to watch.
   *
   * @param breakOff ends the waiting for the client; called once at most, never after {@link
   *     #close}, and must not wait
   */
  static Pace watch(Runnable breakOff) {
    Pace pace = new Pace(breakOff);
    pace.watcher.start();
    return pace;
  }

  /** From now on the client is waited for. */
  synchronized void waits() {
    waiting = true;
    waitingSinceNano = System.nanoTime();
  }

  /** It took or sent so many bytes; 0 if it went away. */
  synchronized void moved(int bytes) {
    behindNanos = Math.max(0, behindNanos() - bytes * NANOS_PER_BYTE);
    waiting = false;
  }

  /** Whether it was broken off for its slowness. */
  synchronized boolean isTooSlow() {
    return tooSlow;
  }

  @Override
  public synchronized void close() {
    closed = true;
    LockSupport.unpark(watcher);
  }

  private long behindNanos() {
    return waiting ? behindNanos + System.nanoTime() - waitingSinceNano : behindNanos;
  }

  private void watch() {
    while (!isOver()) {
      LockSupport.parkNanos(CHECK_NANOS);
    }
  }

  /** Under the lock, so that it doesn't break off what comes next on the same connection. */
  private synchronized boolean isOver() {
    if (!closed && !tooSlow && waiting && behindNanos() > BEHIND_NANOS_MAX) {
      tooSlow = true;
      breakOff.run();
    }
    return closed || tooSlow;
  }
}
