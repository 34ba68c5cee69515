package dev.coatcheck.postgres.sql;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.conf.RenderQuotedNames;
import org.jooq.conf.Settings;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.jooq.impl.DefaultConfiguration;
import org.jspecify.annotations.Nullable;

/**
 * One connection of its own, outside of every pool, for work that may last. A connection that broke
 * is replaced at the next use, unless the session is watched: who watches has to end what the old
 * connection left at the server before anything else is done. For one thread.
 */
public final class Session implements AutoCloseable {
  private static final int CONNECT_SECONDS = 3;
  private static final int LOGIN_SECONDS = 10;
  private static final int REQUEST_LOGIN_SECONDS = 1;

  private static final int STATEMENT_MILLIS_MAX = 50_000;

  /** Beyond what statements are given, so that a network that swallows everything is noticed. */
  private static final int BEYOND_STATEMENT_MILLIS = 10_000;

  private static final String WATCHED_OPTIONS =
      PlainSql.PINNED + " -c statement_timeout=" + STATEMENT_MILLIS_MAX;
  private static final String WATCH_OPTIONS = PlainSql.PINNED + " -c statement_timeout=10000";

  private static final int UNBOUNDED = 0;
  private static final int ROLLED_BACK_TRIES_MAX = 4;

  private final Login login;
  private final Optional<Observer> observer;
  private final Optional<BackendWatch> watch;
  private Connection connection;
  private BackendWatch.@Nullable Backend backend;

  private Session(Login login, Optional<Observer> observer) {
    this.login = login;
    this.observer = observer;
    this.watch = Optional.empty();
    this.connection = connect(login);
  }

  private Session(Login login, Patience patience, Consumer<Optional<LockWait>> waits) {
    this.login = login;
    this.observer = Optional.empty();
    this.connection = connect(login);
    try {
      this.backend = BackendWatch.Backend.of(connection);
    } catch (SQLException refused) {
      BrokenOff.close(connection);
      throw new DatabaseUnavailable("connect", refused);
    }
    Login watching =
        new Login(
            login.settings(),
            "watch of " + login.applicationName(),
            CONNECT_SECONDS,
            LOGIN_SECONDS,
            WATCH_OPTIONS);
    this.watch = Optional.of(new BackendWatch(watching, patience, waits));
  }

  /**
   * How long a silent connection is believed to have a statement that works. All in milliseconds.
   *
   * @param lookMillis between two questions on the second connection
   * @param answerMillisMax for the answer to each
   * @param silenceMillisMax without any answer, until the connection is broken off
   * @param idleMillisMax that the backend is idle though we wait for its answer, until then
   */
  public record Patience(
      int lookMillis, int answerMillisMax, int silenceMillisMax, int idleMillisMax) {
    public static final Patience DEFAULT = new Patience(5_000, 10_000, 30_000, 10_000);
  }

  /**
   * Connects to a database where others may create functions, operators and types: its search path
   * leaves those out.
   *
   * @param applicationName by which others find it in {@code pg_stat_activity}
   * @throws DatabaseUnavailable if that fails
   */
  public static Session open(DatabaseSettings settings, String applicationName) {
    return new Session(
        new Login(settings, applicationName, CONNECT_SECONDS, LOGIN_SECONDS, PlainSql.PINNED),
        Optional.empty());
  }

  /**
   * As {@link #open} with the search path that the user has, and without asking for any setting,
   * which not every pooler takes: whatever is sent has to name schemas.
   *
   * @throws DatabaseUnavailable if that fails
   */
  public static Session openUnpinned(DatabaseSettings settings, String applicationName) {
    return new Session(
        new Login(settings, applicationName, CONNECT_SECONDS, LOGIN_SECONDS, ""), Optional.empty());
  }

  /**
   * Connects, and has a second connection watch whatever lasts. Statements without a bound of their
   * own have {@value #STATEMENT_MILLIS_MAX} ms at the server.
   *
   * @param waits is told what a statement waits for, and that it doesn't any more; from another
   *     thread
   * @throws DatabaseUnavailable if that fails
   */
  public static Session openWatched(
      DatabaseSettings settings,
      String applicationName,
      Patience patience,
      Consumer<Optional<LockWait>> waits) {
    return new Session(
        new Login(settings, applicationName, CONNECT_SECONDS, LOGIN_SECONDS, WATCHED_OPTIONS),
        patience,
        waits);
  }

  /**
   * Connects for a request that lasts longer than others, and must not keep a connection of the
   * pool from them. Reports failures as the pool does.
   *
   * @throws DatabaseUnavailable if that fails, after a second at the latest
   */
  public static Session openForRequest(
      DatabaseSettings settings, String applicationName, Observer observer) {
    try {
      return new Session(
          new Login(settings, applicationName, REQUEST_LOGIN_SECONDS, REQUEST_LOGIN_SECONDS, ""),
          Optional.of(observer));
    } catch (DatabaseUnavailable gone) {
      observer.observe(new Event.DatabaseFailed("connect", SqlState.of(gone), gone));
      throw gone;
    }
  }

  /**
   * Runs the work in one transaction and returns after its commit. Each of its statements has a
   * minute.
   *
   * @throws LockTimeout if a lock was not to be had in time
   * @throws StatementTimeout if a statement took too long
   * @throws DatabaseUnavailable if the connection broke; the outcome is unknown
   * @throws DataAccessException for all that Postgres refuses
   */
  public <T> T transaction(String operation, Function<DSLContext, T> work) {
    return answered(operation, STATEMENT_MILLIS_MAX + BEYOND_STATEMENT_MILLIS, work);
  }

  /** As {@link #transaction}; each statement has so many milliseconds at the server. */
  public <T> T transaction(String operation, int statementMillisMax, Function<DSLContext, T> work) {
    return answered(
        operation,
        statementMillisMax + BEYOND_STATEMENT_MILLIS,
        sql -> {
          PlainSql.execute(sql, "set local statement_timeout = " + statementMillisMax);
          return work.apply(sql);
        });
  }

  /** As {@link #transaction}, for statements that may read a whole table: without any bound. */
  public <T> T longTransaction(String operation, Function<DSLContext, T> work) {
    return answered(
        operation,
        UNBOUNDED,
        sql -> {
          PlainSql.execute(sql, "set local statement_timeout = 0");
          return work.apply(sql);
        });
  }

  /**
   * As {@link #transaction}, and run again if Postgres rolled it back for a deadlock or a
   * serialization failure, so the work must not have effects elsewhere.
   */
  public <T> T write(String operation, Function<DSLContext, T> work) {
    for (int tried = 1; ; tried++) {
      try {
        return transaction(operation, work);
      } catch (DatabaseUnavailable failed) {
        if (tried == ROLLED_BACK_TRIES_MAX || !SqlState.isRolledBack(SqlState.of(failed))) {
          throw failed;
        }
      }
    }
  }

  private <T> T answered(String operation, int answerMillisMax, Function<DSLContext, T> work) {
    return guarded(
        operation,
        answerMillisMax,
        () -> {
          DSLContext sql = context();
          return sql.transactionResult(transaction -> work.apply(transaction.dsl()));
        });
  }

  /**
   * Runs one statement outside of any transaction, without any bound of time; the connection is
   * left as it was.
   */
  public void alone(String operation, String statement) {
    guarded(
        operation,
        UNBOUNDED,
        () -> {
          try (Statement sent = connection.createStatement()) {
            sent.execute("set statement_timeout = 0");
            try {
              sent.execute(statement);
            } finally {
              if (!connection.isClosed()) {
                sent.execute("reset statement_timeout");
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
    watch.ifPresent(BackendWatch::close);
    try {
      connection.close();
    } catch (SQLException gone) {
      // It is closed all the same.
    }
  }

  private interface Work<T> {
    T run();
  }

  private <T> T guarded(String operation, int answerMillisMax, Work<T> work) {
    connect(operation, answerMillisMax);
    Optional<BackendWatch.Statement> watched =
        watch.map(one -> one.begin(operation, connection, requireNonNull(backend)));
    try {
      return work.run();
    } catch (DataAccessException thrown) {
      watched
          .flatMap(BackendWatch.Statement::brokenOff)
          .ifPresent(
              why -> {
                throw brokenOff(operation, why, thrown);
              });
      if (SqlState.isLockTimeout(thrown)) {
        observer.ifPresent(told -> told.observe(new Event.LockTimedOut(operation)));
        throw new LockTimeout(operation, thrown);
      }
      if (!SqlState.isOutage(thrown)) {
        throw thrown;
      }
      observer.ifPresent(
          told -> told.observe(new Event.DatabaseFailed(operation, SqlState.of(thrown), thrown)));
      throw SqlState.isCancelled(thrown)
          ? new StatementTimeout(operation, thrown)
          : new DatabaseUnavailable(operation, thrown);
    } finally {
      watch.ifPresent(BackendWatch::end);
      BrokenOff.closeIfUnanswered(connection);
    }
  }

  /** What the watch saw is the cause; that the socket was closed under a statement is not. */
  private static DatabaseUnavailable brokenOff(
      String operation, String why, DataAccessException thrown) {
    SQLException cause =
        new SQLException(operation + " was given up: " + why, SqlState.CONNECTION_FAILURE);
    cause.addSuppressed(thrown);
    return new DatabaseUnavailable(operation, cause);
  }

  private void connect(String operation, int answerMillisMax) {
    try {
      if (connection.isClosed()) {
        if (watch.isPresent()) {
          throw new SQLException(
              "the connection broke before " + operation, SqlState.CONNECTION_FAILURE);
        }
        connection = connect(login);
      }
      connection.setNetworkTimeout(Runnable::run, answerMillisMax);
    } catch (SQLException odd) {
      throw new DatabaseUnavailable("connect", odd);
    }
  }

  private DSLContext context() {
    return DSL.using(
        BrokenOff.watched(new DefaultConfiguration())
            .set(SQLDialect.POSTGRES)
            .set(connection)
            .set(
                new Settings()
                    .withRenderQuotedNames(RenderQuotedNames.EXPLICIT_DEFAULT_UNQUOTED)
                    .withExecuteLogging(false)
                    .withFetchWarnings(false)));
  }

  private static Connection connect(Login login) {
    try {
      return login.connect();
    } catch (SQLException refused) {
      throw new DatabaseUnavailable("connect", refused);
    }
  }
}
