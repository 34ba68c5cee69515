package dev.coatcheck.postgres.sql;

import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.Properties;
import java.util.function.Function;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.conf.RenderQuotedNames;
import org.jooq.conf.Settings;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.jooq.impl.DefaultConfiguration;

/**
 * One connection of its own, outside of every pool, for work that may last. A connection that broke
 * is replaced at the next use. For one thread.
 */
public final class Session implements AutoCloseable {
  private static final int CONNECT_SECONDS = 3;
  private static final int LOGIN_SECONDS = 10;
  private static final int REQUEST_LOGIN_SECONDS = 1;

  /** Beyond what statements are given, so that a network that swallows everything is noticed. */
  private static final int ANSWER_MILLIS_MAX = 60_000;

  private static final int UNBOUNDED = 0;
  private static final int ROLLED_BACK_TRIES_MAX = 4;

  private final Login login;
  private final Optional<Observer> observer;
  private Connection connection;

  /** How it connects, and connects again after its connection broke. */
  private record Login(
      DatabaseSettings settings,
      String applicationName,
      boolean isPinned,
      int connectSeconds,
      int loginSeconds) {}

  private Session(Login login, Optional<Observer> observer) {
    this.login = login;
    this.observer = observer;
    this.connection = connect(login);
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
        new Login(settings, applicationName, true, CONNECT_SECONDS, LOGIN_SECONDS),
        Optional.empty());
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
          new Login(settings, applicationName, false, REQUEST_LOGIN_SECONDS, REQUEST_LOGIN_SECONDS),
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
    return transaction(operation, ANSWER_MILLIS_MAX, work);
  }

  /** As {@link #transaction}, for statements that may read a whole table: without any bound. */
  public <T> T longTransaction(String operation, Function<DSLContext, T> work) {
    return transaction(operation, UNBOUNDED, work);
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

  private <T> T transaction(String operation, int answerMillisMax, Function<DSLContext, T> work) {
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
    connect(answerMillisMax);
    try {
      return work.run();
    } catch (DataAccessException thrown) {
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
      BrokenOff.closeIfUnanswered(connection);
    }
  }

  private void connect(int answerMillisMax) {
    try {
      if (connection.isClosed()) {
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
    Properties properties = new Properties();
    properties.setProperty("user", login.settings().user());
    properties.setProperty("password", login.settings().password());
    properties.setProperty("ApplicationName", login.applicationName());
    properties.setProperty("connectTimeout", Integer.toString(login.connectSeconds()));
    properties.setProperty("loginTimeout", Integer.toString(login.loginSeconds()));
    // Ends the driver's thread that has been waited for in vain; each use sets its own.
    properties.setProperty("socketTimeout", Integer.toString(login.loginSeconds()));
    properties.setProperty("tcpKeepAlive", "true");
    try {
      Connection connection = DriverManager.getConnection(login.settings().url(), properties);
      if (login.isPinned()) {
        pin(connection);
      }
      return connection;
    } catch (SQLException refused) {
      throw new DatabaseUnavailable("connect", refused);
    }
  }

  private static void pin(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(PlainSql.PIN_PATH);
    } catch (SQLException refused) {
      connection.close();
      throw refused;
    }
  }
}
