package dev.coatcheck.postgres.session;

import dev.coatcheck.postgres.connection.BrokenOff;
import dev.coatcheck.postgres.connection.SqlState;
import dev.coatcheck.postgres.session.BackendProbe.Seen;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Watches statements that may last for hours. A silent connection may have a statement that works,
 * or a network that swallows everything. Neither a time-out of the socket nor TCP's keep-alive
 * through a proxy can tell the two apart.
 *
 * <p>So Postgres is asked about the statement's backend on a second connection, from time to time.
 * The statement's connection is broken off if its backend is gone, if the backend is idle although
 * an answer is expected, or if Postgres doesn't answer the second connection either. An active
 * backend is left alone, however long it takes; what it waits for is passed on.
 */
final class StatementWatchdog implements AutoCloseable {
  /** The watch wakes this many times in the interval between two probes. */
  private static final int PARTS = 5;

  private final Connection watched;
  private final BackendProbe second;
  private final WatchTimeouts timeouts;
  private final Consumer<Optional<LockWait>> waits;
  private final Thread thread;
  private @Nullable Statement under;
  private boolean isWaitTold;
  private volatile boolean closed;

  /**
   * Watches one connection.
   *
   * @param login of the second connection
   * @param waits is told what the statement waits for, and that it doesn't any more
   */
  StatementWatchdog(
      Connection watched, Login login, WatchTimeouts timeouts, Consumer<Optional<LockWait>> waits)
      throws SQLException {
    this.watched = watched;
    this.second = new BackendProbe(watched, login);
    this.timeouts = timeouts;
    this.waits = waits;
    this.thread = Thread.ofPlatform().daemon().name(login.applicationName()).start(this::run);
  }

  /** A statement that is under way. Its fields belong to the watching thread. */
  static final class Statement {
    private final String operation;
    private long lookedNano = System.nanoTime();
    private long answeredNano = lookedNano;
    private int silences;
    private String idleMark = "";
    private long idleNano;
    private volatile @Nullable String brokenOff;

    private Statement(String operation) {
      this.operation = operation;
    }

    /**
     * The failure for the caller if the watch broke the connection off. What the watch saw is its
     * cause; that the socket was closed under a statement is not.
     */
    Optional<DatabaseUnavailable> brokenOff(Throwable thrown) {
      return Optional.ofNullable(brokenOff)
          .map(
              why -> {
                SQLException cause =
                    new SQLException(
                        operation + " was given up: " + why, SqlState.CONNECTION_FAILURE);
                cause.addSuppressed(thrown);
                return new DatabaseUnavailable(operation, cause);
              });
    }
  }

  synchronized Statement begin(String operation) {
    Statement statement = new Statement(operation);
    under = statement;
    return statement;
  }

  synchronized void end() {
    under = null;
    tell(Optional.empty());
  }

  private synchronized @Nullable Statement under() {
    return under;
  }

  private void tell(Optional<LockWait> wait) {
    if (wait.isPresent() || isWaitTold) {
      isWaitTold = wait.isPresent();
      waits.accept(wait);
    }
  }

  private void run() {
    long lookNanos = TimeUnit.MILLISECONDS.toNanos(timeouts.lookMillis());
    while (!closed) {
      LockSupport.parkNanos(lookNanos / PARTS);
      Statement now = under();
      if (now != null && System.nanoTime() - now.lookedNano >= lookNanos) {
        look(now);
        now.lookedNano = System.nanoTime();
      }
    }
    second.close();
  }

  private void look(Statement now) {
    try {
      Optional<Seen> seen = second.ask(now.operation, answerMillisMax(now));
      now.answeredNano = System.nanoTime();
      now.silences = 0;
      if (seen.isEmpty()) {
        breakOff(now, "its process " + second.pid() + " is gone from the server");
      } else {
        judge(now, seen.get());
      }
    } catch (SQLException failed) {
      second.close();
      if (SqlState.hasNoRoom(failed)) {
        now.answeredNano = System.nanoTime();
      } else {
        silent(now);
      }
    }
  }

  private int answerMillisMax(Statement now) {
    return Math.clamp(
        timeouts.silenceMillisMax() - silentMillis(now),
        Math.ceilDiv(timeouts.lookMillis(), PARTS),
        timeouts.answerMillisMax());
  }

  private static long silentMillis(Statement now) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - now.answeredNano);
  }

  /** The second connection may have died by itself: only a new one tells. */
  private void silent(Statement now) {
    now.silences++;
    long silentMillis = silentMillis(now);
    if (silentMillis >= timeouts.silenceMillisMax() && now.silences > 1) {
      breakOff(
          now,
          "the server gives no answer for " + TimeUnit.MILLISECONDS.toSeconds(silentMillis) + " s");
    }
  }

  private void judge(Statement now, Seen seen) {
    if (!seen.state().startsWith("idle")) {
      now.idleMark = "";
      synchronized (this) {
        if (Objects.equals(under, now)) {
          tell(seen.awaits());
        }
      }
      return;
    }
    if (!now.idleMark.equals(seen.stateChange())) {
      now.idleMark = seen.stateChange();
      now.idleNano = System.nanoTime();
    }
    long idleMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - now.idleNano);
    if (idleMillis >= timeouts.idleMillisMax()) {
      breakOff(now, "its answer is lost: process %d is %s".formatted(second.pid(), seen.state()));
    }
  }

  private void breakOff(Statement now, String why) {
    synchronized (this) {
      if (!Objects.equals(under, now)) {
        return;
      }
      under = null;
      now.brokenOff = why;
    }
    // A socket with TLS may wait while it is closed.
    Thread.startVirtualThread(() -> BrokenOff.close(watched));
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
