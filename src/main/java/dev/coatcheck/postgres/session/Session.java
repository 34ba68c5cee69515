package dev.coatcheck.postgres.session;

import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.BrokenOff;
import dev.coatcheck.postgres.connection.ConnectionDesync;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.SqlState;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.LockTimeout;
import dev.coatcheck.postgres.sql.StatementTimeout;
import dev.coatcheck.postgres.sql.TransactionStart;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DefaultConnectionProvider;

/**
 * One connection outside of every pool, for work that may last. A broken connection is replaced at
 * the next use, unless the session is watched: then its owner first has to end what the old
 * connection left at the server. Not thread-safe.
 */
public final class Session implements AutoCloseable {
  private static final int STATEMENT_MILLIS_MAX = 50_000;

  /** Added to the timeout of a statement, to detect a network that drops all packets. */
  private static final int BEYOND_STATEMENT_MILLIS = 10_000;

  private static final int WATCH_STATEMENT_MILLIS_MAX = 10_000;

  private static final int UNBOUNDED = 0;
  private static final int ROLLED_BACK_TRIES_MAX = 4;

  private final Login login;
  private final Consumer<Event> events;
  private final Optional<StatementWatchdog> watch;
  private final DefaultConnectionProvider lent;
  private final DSLContext sql;
  private Connection connection;

  private Session(Login login, Consumer<Event> events) {
    this.login = login;
    this.events = events;
    this.watch = Optional.empty();
    this.connection = login.connect();
    this.lent = new DefaultConnectionProvider(connection);
    this.sql = BrokenOff.statements(lent, login.settings().shards());
  }

  private Session(Login login, WatchTimeouts timeouts, Consumer<Optional<LockWait>> waits) {
    this.login = login;
    this.events = _ -> {};
    this.connection = login.connect();
    this.lent = new DefaultConnectionProvider(connection);
    this.sql = BrokenOff.statements(lent, login.settings().shards());
    Login watching =
        Login.pinned(
            login.settings(), "watch of " + login.applicationName(), WATCH_STATEMENT_MILLIS_MAX);
    try {
      this.watch = Optional.of(new StatementWatchdog(connection, watching, timeouts, waits));
    } catch (SQLException refused) {
      BrokenOff.close(connection);
      throw new DatabaseUnavailable("connect", refused);
    }
  }

  /**
   * Connects to a database where others may create functions, operators and types: the search path
   * excludes these.
   *
   * @param applicationName the connection's name in {@code pg_stat_activity}
   */
  public static Session open(DatabaseSettings settings, String applicationName) {
    return new Session(Login.pinned(settings, applicationName), _ -> {});
  }

  /**
   * Like {@link #open}, but with the user's search path and without startup settings, which some
   * poolers refuse: every statement has to name schemas.
   */
  public static Session openUnpinned(DatabaseSettings settings, String applicationName) {
    return new Session(Login.plain(settings, applicationName), _ -> {});
  }

  /**
   * Connects, and watches long statements on a second connection. Other statements time out at the
   * server after {@value #STATEMENT_MILLIS_MAX} ms.
   *
   * @param waits is told, on another thread, when a statement starts and stops waiting, and for
   *     what
   */
  public static Session openWatched(
      DatabaseSettings settings,
      String applicationName,
      WatchTimeouts timeouts,
      Consumer<Optional<LockWait>> waits) {
    return new Session(
        Login.pinned(settings, applicationName, STATEMENT_MILLIS_MAX), timeouts, waits);
  }

  /**
   * Connects for a long request, which should not keep a pooled connection from others. Reports
   * failures like the pool.
   *
   * @throws DatabaseUnavailable if that fails, within a second
   */
  public static Session openForRequest(
      DatabaseSettings settings, String applicationName, Observer observer) {
    try {
      return new Session(Login.ofRequest(settings, applicationName), observer::observe);
    } catch (DatabaseUnavailable gone) {
      observer.observe(new Event.DatabaseFailed("connect", SqlState.of(gone), gone));
      throw gone;
    }
  }

  /**
   * Runs the work in one transaction and returns after the commit. Each statement times out after a
   * minute.
   *
   * @throws LockTimeout if a lock was not available in time
   * @throws StatementTimeout if a statement took too long
   * @throws DatabaseUnavailable if the connection broke; the outcome is unknown
   * @throws DataAccessException if Postgres refused a statement for another reason
   */
  public <T> T transaction(String operation, Function<DSLContext, T> work) {
    int answerMillisMax = STATEMENT_MILLIS_MAX + BEYOND_STATEMENT_MILLIS;
    return answered(operation, answerMillisMax, OptionalLong.empty(), work);
  }

  /** Like {@link #transaction}, with a timeout in milliseconds for each statement. */
  public <T> T transaction(String operation, int statementMillisMax, Function<DSLContext, T> work) {
    int answerMillisMax = statementMillisMax + BEYOND_STATEMENT_MILLIS;
    return answered(operation, answerMillisMax, OptionalLong.of(statementMillisMax), work);
  }

  /** Like {@link #transaction}, without a timeout, for statements that may read a whole table. */
  public <T> T longTransaction(String operation, Function<DSLContext, T> work) {
    return answered(operation, UNBOUNDED, OptionalLong.of(UNBOUNDED), work);
  }

  /**
   * Like {@link #transaction}, and retried after a deadlock or a serialization failure, so the work
   * must not have other effects.
   */
  public <T> T write(String operation, Function<DSLContext, T> work) {
    for (int tried = 1; ; tried++) {
      try {
        return transaction(operation, work);
      } catch (DatabaseUnavailable failed) {
        if (tried == ROLLED_BACK_TRIES_MAX || !SqlState.isRolledBack(failed)) {
          throw failed;
        }
      }
    }
  }

  private <T> T answered(
      String operation,
      int answerMillisMax,
      OptionalLong statementMillisMax,
      Function<DSLContext, T> work) {
    return guarded(
        operation,
        answerMillisMax,
        () ->
            sql.transactionResult(
                transaction -> {
                  login.start().send(transaction.dsl(), statementMillisMax, OptionalLong.empty());
                  return work.apply(transaction.dsl());
                }));
  }

  /**
   * Runs one statement outside of any transaction, without a timeout. Restores the settings of the
   * connection.
   */
  public void alone(String operation, String statement) {
    guarded(
        operation,
        UNBOUNDED,
        () -> {
          try (Statement sent = connection.createStatement()) {
            TransactionStart.sendAlone(sql);
            try {
              sent.execute(statement);
            } finally {
              if (!connection.isClosed()) {
                TransactionStart.end(sql);
              }
            }
            return true;
          } catch (SQLException failed) {
            BrokenOff.closeUnlessAnswered(connection, failed);
            throw new DataAccessException(operation, failed);
          }
        });
  }

  @Override
  public void close() {
    watch.ifPresent(StatementWatchdog::close);
    try {
      connection.close();
    } catch (SQLException gone) {
      // The connection is closed anyway.
    }
  }

  private <T> T guarded(String operation, int answerMillisMax, Supplier<T> work) {
    connect(operation, answerMillisMax);
    Optional<StatementWatchdog.Statement> watched = watch.map(one -> one.begin(operation));
    try {
      return work.get();
    } catch (ConnectionDesync desync) {
      throw new DatabaseUnavailable(operation, desync);
    } catch (DataAccessException thrown) {
      throw watched
          .<RuntimeException>flatMap(statement -> statement.brokenOff(thrown))
          .orElseGet(() -> DatabaseUnavailable.of(operation, thrown, events));
    } finally {
      watch.ifPresent(StatementWatchdog::end);
      BrokenOff.closeIfUnanswered(connection);
    }
  }

  private void connect(String operation, int answerMillisMax) {
    try {
      if (connection.isClosed()) {
        if (watch.isPresent()) {
          throw new SQLException(
              "the connection broke before " + operation, SqlState.CONNECTION_FAILURE);
        }
        connection = login.connect();
        lent.setConnection(connection);
      }
      connection.setNetworkTimeout(Runnable::run, answerMillisMax);
    } catch (SQLException odd) {
      throw new DatabaseUnavailable("connect", odd);
    }
  }
}
