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
 * or a network that drops all packets. Neither a socket timeout nor TCP keep-alive through a proxy
 * can tell the two apart.
 *
 * <p>So the watch asks Postgres for the statement's backend from time to time, on a second
 * connection. It breaks the statement's connection off if the backend is gone, if the backend is
 * idle although an answer is expected, or if Postgres doesn't answer on the second connection
 * either. It leaves an active backend alone, however long that takes, and reports what the backend
 * waits for.
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
   * @param login of the second connection
   * @param waits is told when the statement starts and stops waiting, and for what
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

  /** A running statement. Its fields belong to the watching thread. */
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
     * The failure for the caller if the watch broke the connection off. Its cause is what the watch
     * saw, not that the socket was closed under a statement.
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

  /** The second connection itself may be broken: only a new one tells. */
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
    // Closing a TLS socket may block.
    Thread.startVirtualThread(() -> BrokenOff.close(watched));
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
