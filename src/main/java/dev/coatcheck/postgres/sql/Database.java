package dev.coatcheck.postgres.sql;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.BrokenOff;
import dev.coatcheck.postgres.connection.ConnectionDesync;
import dev.coatcheck.postgres.connection.Connections;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.connection.Shards;
import dev.coatcheck.postgres.connection.SqlState;
import java.sql.SQLException;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;

/**
 * A pool of connections to Postgres and the two ways to use it: {@link #read} and {@link #write}.
 * Nothing here depends on session state, so a PgBouncer in transaction mode may stand between,
 * unless the search path is {@linkplain #openPinned pinned}.
 *
 * <p>Every wait is bounded by the {@link Deadline} of the thread, and of that at most 900 ms are
 * for a connection (5 s in a {@linkplain #openPinned pinned} pool, which is often cold). A deadline
 * of more than a second also loosens the time-outs that statements have from {@link
 * DatabaseSettings}.
 */
public final class Database implements AutoCloseable {
  private static final int ROLLED_BACK_TRIES_MAX = 4;
  private static final int BESIDE_CONNECTIONS_MAX = 2;

  /** From here on a job has asked for more time than reads and mints have. */
  private static final int LONG_MILLIS = 1_000;

  /** So that a request is answered within a second if nothing can be begun. */
  private static final Duration BEGIN_MAX = Duration.ofMillis(900);

  /**
   * For each statement of a pinned pool, and of work with a long deadline: below the 10 s after
   * which a connection is given up, so that no backend waits on for a lock that nobody waits for
   * any more.
   */
  private static final long STATEMENT_MILLIS_MAX = 9_000;

  /** For a pool without open connections, to a server that may be far away or busy. */
  private static final Duration COLD_BEGIN_MAX = Duration.ofSeconds(5);

  private final Connections connections;
  private final DSLContext sql;
  private final Observer observer;
  private final TransactionStart start;
  private final Shards shards;

  private Database(
      Connections connections, Observer observer, TransactionStart start, Shards shards) {
    this.connections = connections;
    this.observer = observer;
    this.start = start;
    this.sql = BrokenOff.statements(connections, shards);
    this.shards = shards;
  }

  /** Opens the pool without waiting for Postgres; the first use finds out whether it is there. */
  public static Database open(DatabaseSettings settings, String poolName, Observer observer) {
    Connections pool = Connections.open(settings, config(poolName, observer), "", BEGIN_MAX);
    return new Database(pool, observer, TransactionStart.OURS, settings.shards());
  }

  /**
   * Two connections beside the pool of requests, opened when they are needed: for what is waited
   * for inside transactions, which may have every connection of that pool.
   */
  public static Database openBeside(DatabaseSettings settings, String poolName, Observer observer) {
    HikariConfig config = new HikariConfig();
    config.setPoolName(poolName);
    config.setMinimumIdle(0);
    Connections pool =
        Connections.open(settings.ofConnections(BESIDE_CONNECTIONS_MAX), config, "", BEGIN_MAX);
    return new Database(pool, observer, TransactionStart.OURS, settings.shards());
  }

  /**
   * The same on a database where others may create functions, operators and types: the search path
   * of its sessions leaves those out, and the server ends a statement after 9 s. That depends on
   * session state, so no pooler in transaction mode may stand between.
   */
  public static Database openPinned(DatabaseSettings settings, String poolName, Observer observer) {
    String options = DatabaseSettings.PINNED + " -c statement_timeout=" + STATEMENT_MILLIS_MAX;
    Connections pool =
        Connections.open(settings, config(poolName, observer), options, COLD_BEGIN_MAX);
    return new Database(pool, observer, TransactionStart.ON_SOURCE, settings.shards());
  }

  /** The same pool with transactions that begin otherwise; closing either closes both. */
  public Database begunBy(TransactionStart other) {
    return new Database(connections, observer, other, shards);
  }

  private static HikariConfig config(String poolName, Observer observer) {
    HikariConfig config = new HikariConfig();
    config.setPoolName(poolName);
    config.setMetricRegistry(observer.meters());
    return config;
  }

  /**
   * Runs statements that change nothing, each in a transaction of its own, on one connection. One
   * that turns out to be dead is replaced and the work run once more, as far as the deadline goes:
   * Hikari doesn't test a connection that was used less than 500 ms ago, so the first use after a
   * restart of Postgres fails. So is one that answers another question, see {@link
   * ConnectionDesync}.
   */
  public <T> T read(String operation, Function<DSLContext, T> work) {
    Deadline deadline = Deadline.current();
    for (boolean isSecond = false; ; isSecond = true) {
      try {
        return lent(operation, deadline, isLong(deadline), work);
      } catch (DataAccessException failed) {
        if (isSecond || !SqlState.isConnectionLost(failed) || deadline.isOver()) {
          throw failed(operation, failed);
        }
      }
    }
  }

  /**
   * Runs the work in one transaction and returns after its commit. Run again if Postgres rolled it
   * back for a deadlock or a serialization failure, so the work must not have effects elsewhere.
   *
   * @throws DatabaseUnavailable if Postgres can't be asked or broke off; the outcome is unknown
   */
  public <T> T write(String operation, Function<DSLContext, T> work) {
    Deadline deadline = Deadline.current();
    for (int tried = 1; ; tried++) {
      try {
        return lent(operation, deadline, true, work);
      } catch (DataAccessException thrown) {
        if (tried == ROLLED_BACK_TRIES_MAX || !SqlState.isRolledBack(thrown)) {
          throw failed(operation, thrown);
        }
      }
    }
  }

  /**
   * Runs a single statement that writes: Postgres makes a transaction of it, without a round trip
   * for the commit. It is never sent twice.
   *
   * @throws DatabaseUnavailable if Postgres can't be asked or broke off; the outcome is unknown
   */
  public <T> T writeAlone(String operation, Function<DSLContext, T> work) {
    Deadline deadline = Deadline.current();
    try {
      return lent(deadline, isLong(deadline), work);
    } catch (ConnectionDesync desync) {
      throw mixedUp(operation, desync);
    } catch (DataAccessException thrown) {
      throw failed(operation, thrown);
    }
  }

  private DatabaseUnavailable mixedUp(String operation, ConnectionDesync desync) {
    observeMixUp(operation, desync);
    return new DatabaseUnavailable(operation, desync);
  }

  private void observeMixUp(String operation, ConnectionDesync desync) {
    observer.observe(new Event.AnswersMixedUp(operation, desync.toString()));
  }

  /**
   * Does the work on a connection, and once more on another one if the first is out of step.
   * Nothing was committed then, and that connection is closed.
   */
  private <T> T lent(
      String operation, Deadline deadline, boolean inTransaction, Function<DSLContext, T> work) {
    try {
      return lent(deadline, inTransaction, work);
    } catch (ConnectionDesync first) {
      observeMixUp(operation, first);
      try {
        return lent(deadline, inTransaction, work);
      } catch (ConnectionDesync again) {
        throw mixedUp(operation, again);
      }
    }
  }

  private <T> T lent(Deadline deadline, boolean inTransaction, Function<DSLContext, T> work) {
    try {
      return connections.lend(
          deadline,
          lent -> {
            try {
              return inTransaction ? transacted(lent, deadline, work) : work.apply(sql);
            } catch (RuntimeException thrown) {
              // A session keeps the settings of its user, and its standby, for as long as it lasts.
              if (thrown instanceof ConnectionDesync || SqlState.isReadOnly(thrown)) {
                lent.evict();
              }
              throw thrown;
            }
          });
    } catch (SQLException failed) {
      throw new DataAccessException(String.valueOf(failed.getMessage()), failed);
    }
  }

  private <T> T transacted(Connections.Lent lent, Deadline deadline, Function<DSLContext, T> work)
      throws SQLException {
    lent.begin();
    OptionalLong millisMax =
        isLong(deadline)
            ? OptionalLong.of(Math.clamp(deadline.leftMillis(), 1, STATEMENT_MILLIS_MAX))
            : OptionalLong.empty();
    start.send(sql, millisMax, millisMax);
    T result = work.apply(sql);
    lent.commit();
    return result;
  }

  private static boolean isLong(Deadline deadline) {
    return Deadline.isBound() && deadline.leftMillis() > LONG_MILLIS;
  }

  @Override
  public void close() {
    connections.close();
  }

  HikariDataSource pool() {
    return connections.pool();
  }

  private RuntimeException failed(String operation, DataAccessException thrown) {
    return DatabaseUnavailable.of(operation, thrown, observer::observe);
  }
}
