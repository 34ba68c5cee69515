package dev.coatcheck.postgres.connection;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.coatcheck.core.attempt.NonBlockingAttempt;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jooq.ConnectionProvider;

/**
 * Lends the connections of a pool, each until the borrower's deadline, and gives jOOQ the
 * connection that the thread has borrowed.
 *
 * <p>Waiting in Hikari is unfair. So callers queue before it, for as many permits as there are
 * connections, and wait in Hikari only for a connection that has to be opened or tested.
 */
public final class Connections implements ConnectionProvider, AutoCloseable {
  /** The least that Hikari takes, for each of waiting for a connection and testing it. */
  private static final int POOL_MILLIS_MAX = 250;

  /** What Hikari may take in all: it tests the connection that it waited for. */
  private static final int POOL_MILLIS_ALL = 2 * POOL_MILLIS_MAX;

  private static final int CONNECT_SECONDS = 1;
  private static final int SOCKET_SECONDS = 10;
  private static final String TIMED_OUT = "no connection of the pool in time";

  private final HikariDataSource pool;
  private final PatientSource source;
  private final Duration beginMax;
  private final Semaphore permits;
  private final ScopedValue<Lent> current = ScopedValue.newInstance();

  private Connections(HikariDataSource pool, PatientSource source, Duration beginMax) {
    this.pool = pool;
    this.source = source;
    this.beginMax = beginMax;
    this.permits = new Semaphore(pool.getMaximumPoolSize(), true);
  }

  /**
   * Opens the pool without waiting for Postgres.
   *
   * @param options settings that connections begin with, as {@code -c name=value}, besides those
   *     that bound statements; may be empty
   * @param beginMax how long a caller whose deadline is later waits for a connection
   */
  public static Connections open(
      DatabaseSettings settings, HikariConfig config, String options, Duration beginMax) {
    return open(
        new PatientSource(
            settings.url(), settings.properties(CONNECT_SECONDS, SOCKET_SECONDS, options)),
        settings,
        config,
        beginMax);
  }

  /**
   * The same for a server that may be away for long: each connection asks for time-outs and a
   * pinned search path, and does without where a pooler between refuses them.
   */
  public static Connections openBoundedIfPossible(
      DatabaseSettings settings, HikariConfig config, Duration beginMax) {
    return open(
        new PatientSource(
            settings.url(),
            settings.bounded().properties(CONNECT_SECONDS, SOCKET_SECONDS),
            Optional.of(settings.properties(CONNECT_SECONDS, SOCKET_SECONDS))),
        settings,
        config,
        beginMax);
  }

  private static Connections open(
      PatientSource source, DatabaseSettings settings, HikariConfig config, Duration beginMax) {
    config.setDataSource(source);
    config.setMaximumPoolSize(settings.connectionsMax());
    config.setConnectionTimeout(POOL_MILLIS_MAX);
    config.setValidationTimeout(POOL_MILLIS_MAX);
    config.setInitializationFailTimeout(-1);
    return new Connections(new HikariDataSource(config), source, beginMax);
  }

  public interface Work<T> {
    T run(Lent lent) throws SQLException;
  }

  /**
   * Lends a connection for the time of the work, and to jOOQ on this thread; never where the thread
   * runs a {@link NonBlockingAttempt}.
   *
   * @throws SQLTransientConnectionException if none is to be had in time
   */
  public <T> T lend(Deadline deadline, Work<T> work) throws SQLException {
    NonBlockingAttempt.leave();
    Deadline begin = begin(deadline);
    if (!isAdmitted(begin)) {
      throw new SQLTransientConnectionException(TIMED_OUT);
    }
    try (Lent lent = new Lent(connection(begin), deadline)) {
      return ScopedValue.where(current, lent).<T, SQLException>call(() -> work.run(lent));
    } finally {
      permits.release();
    }
  }

  /** A caller with a deadline, however late, is told soon if nothing can be begun. */
  private Deadline begin(Deadline deadline) {
    return Deadline.isBound() ? Deadline.after(beginMax).orEarlier() : deadline;
  }

  /** Takes no permit if the remaining time is too short to get a connection. */
  private boolean isAdmitted(Deadline begin) {
    long leftMillis = begin.leftMillis();
    if (leftMillis <= POOL_MILLIS_ALL) {
      return leftMillis > POOL_MILLIS_MAX
          && pool.getHikariPoolMXBean().getIdleConnections() > 0
          && permits.tryAcquire();
    }
    try {
      return permits.tryAcquire(leftMillis - POOL_MILLIS_ALL, TimeUnit.MILLISECONDS);
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private Connection connection(Deadline begin) throws SQLException {
    while (true) {
      try {
        return pool.getConnection();
      } catch (SQLTransientConnectionException late) {
        if (begin.leftMillis() < POOL_MILLIS_ALL) {
          throw source
              .lastFailure()
              .map(why -> new SQLTransientConnectionException(TIMED_OUT, why.getSQLState(), why))
              .orElse(late);
        }
      }
    }
  }

  @Override
  public Connection acquire() {
    return current.get().connection;
  }

  /** It stays with its borrower. */
  @Override
  public void release(Connection connection) {}

  public HikariDataSource pool() {
    return pool;
  }

  @Override
  public void close() {
    source.close();
    pool.close();
  }

  /**
   * A connection while it is lent. For one thread, but broken off by another one at its deadline,
   * whether its user waits for an answer or for a socket that takes no more bytes. A time-out of
   * the socket would begin again with each statement, and doesn't bound what is sent.
   */
  public final class Lent implements AutoCloseable, DeadlineSweep.Timed {
    private final Connection connection;
    private final Deadline deadline;

    /** Set once: by the borrower with its work done, or at the deadline. */
    private final AtomicBoolean isOver = new AtomicBoolean();

    private boolean isInTransaction;
    private boolean isEvicted;

    private Lent(Connection connection, Deadline deadline) {
      this.connection = connection;
      this.deadline = deadline;
      DeadlineSweep.SHARED.watch(this);
    }

    @Override
    public Deadline deadline() {
      return deadline;
    }

    @Override
    public boolean isOver() {
      return isOver.get();
    }

    @Override
    public void end() {
      if (isOver.compareAndSet(false, true)) {
        // A socket with TLS may wait while it is closed.
        Thread.startVirtualThread(() -> BrokenOff.close(connection));
      }
    }

    /** Until {@link #commit}; else all is rolled back in the end. */
    public void begin() throws SQLException {
      connection.setAutoCommit(false);
      isInTransaction = true;
    }

    /**
     * Errors that Postgres did not report leave the outcome unknown: the work must not run again.
     */
    public void commit() throws SQLException {
      try {
        connection.commit();
        isInTransaction = false;
      } catch (RuntimeException broken) {
        isEvicted = true;
        throw new SQLException("the outcome is unknown", SqlState.OUTCOME_UNKNOWN, broken);
      } catch (SQLException failed) {
        throw failed.getSQLState() == null
            ? new SQLException("the outcome is unknown", SqlState.OUTCOME_UNKNOWN, failed)
            : failed;
      }
    }

    /** The pool closes the connection instead of lending it again. */
    public void evict() {
      isEvicted = true;
    }

    /** Gives the connection back to the pool, unless it is unusable. */
    @Override
    public void close() throws SQLException {
      try {
        BrokenOff.closeIfUnanswered(connection);
        if (BrokenOff.isClosed(connection)) {
          isEvicted = true;
        }
        if (isInTransaction && !isEvicted) {
          rollBack();
        }
        if (!isOver.compareAndSet(false, true)) {
          isEvicted = true; // it is broken off, or about to be
        }
      } finally {
        if (!isEvicted) {
          connection.close();
        } else {
          // Of any other class it would not be evicted, and nothing would be said. It isn't closed
          // as well: Hikari would set the autocommit mode of a connection that is gone.
          pool.evictConnection(connection);
        }
      }
    }

    private void rollBack() {
      try {
        connection.rollback();
      } catch (SQLException | RuntimeException broken) {
        isEvicted = true;
      }
    }
  }
}
