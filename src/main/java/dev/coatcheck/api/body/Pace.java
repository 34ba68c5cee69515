package dev.coatcheck.api.body;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Ends a transfer whose client is slower than a minimum rate. Only the time in which the gateway
 * waits for the client counts, so a slow database doesn't matter here. Jetty's own minimum rates
 * are checked when bytes arrive, so they never affect a client that does nothing.
 *
 * <p>A client may fall behind the rate for up to 10 s, for instance while it writes to a disk, and
 * catch up later. It gets no credit for having been fast before.
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
   * Starts watching.
   *
   * @param breakOff ends the wait for the client; called once at most, never after {@link #close},
   *     and must not wait
   */
  static Pace watch(Runnable breakOff) {
    Pace pace = new Pace(breakOff);
    pace.watcher.start();
    return pace;
  }

  /** The wait for the client starts. */
  synchronized void waits() {
    waiting = true;
    waitingSinceNano = System.nanoTime();
  }

  /** The client took or sent this many bytes; 0 if it disconnected. */
  synchronized void moved(int bytes) {
    behindNanos = Math.max(0, behindNanos() - bytes * NANOS_PER_BYTE);
    waiting = false;
  }

  /** Whether the transfer was broken off because the client was too slow. */
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

  /** The lock is held, so that the next use of the connection is not broken off. */
  private synchronized boolean isOver() {
    if (!closed && !tooSlow && waiting && behindNanos() > BEHIND_NANOS_MAX) {
      tooSlow = true;
      breakOff.run();
    }
    return closed || tooSlow;
  }
}
