package dev.coatcheck.postgres.connection;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * Breaks off connections whose users have waited until their deadline: for an answer, or for a
 * socket that takes no more bytes. A time-out of the socket would begin anew with each statement,
 * and doesn't bound what is sent.
 *
 * <p>It looks every {@value #LOOK_MILLIS} ms while connections are in use, and sleeps once there
 * were none for a second.
 */
final class Watchdog implements AutoCloseable {
  private static final long LOOK_MILLIS = 20;
  private static final long LOOK_NANOS = LOOK_MILLIS * 1_000_000;
  private static final int IDLE_LOOKS_MAX = 50;

  private final Map<Connection, Deadline> watched = new ConcurrentHashMap<>();
  private final Thread thread;
  private volatile boolean asleep;
  private volatile boolean closed;

  Watchdog(String poolName) {
    thread = Thread.ofPlatform().daemon().name("watchdog-" + poolName).start(this::run);
  }

  void watch(Connection connection, Deadline deadline) {
    watched.put(connection, deadline);
    if (asleep) {
      LockSupport.unpark(thread);
    }
  }

  /** False if it was broken off, or is about to be. */
  boolean unwatch(Connection connection) {
    return watched.remove(connection) != null;
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }

  private void run() {
    int idleLooks = 0;
    while (!closed) {
      idleLooks = watched.isEmpty() ? idleLooks + 1 : 0;
      if (idleLooks > IDLE_LOOKS_MAX) {
        sleep();
        idleLooks = 0;
      } else {
        LockSupport.parkNanos(LOOK_NANOS);
      }
      watched.forEach(this::look);
    }
  }

  /** The first connection after the field is set wakes this thread. */
  private void sleep() {
    asleep = true;
    if (watched.isEmpty() && !closed) {
      LockSupport.park();
    }
    asleep = false;
  }

  private void look(Connection connection, Deadline deadline) {
    if (deadline.isOver() && watched.remove(connection, deadline)) {
      // A socket with TLS may wait while it is closed.
      Thread.startVirtualThread(() -> abort(connection));
    }
  }

  private static void abort(Connection connection) {
    try {
      connection.abort(Runnable::run);
    } catch (SQLException gone) {
      // That is what was wanted.
    }
  }
}
