package dev.coatcheck.postgres.sql;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import java.util.function.Function;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.conf.RenderQuotedNames;
import org.jooq.conf.Settings;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;

/**
 * One connection of its own, outside of every pool, for work that may last. A connection that broke
 * is replaced at the next use. For one thread.
 */
public final class Session implements AutoCloseable {
  private static final String CONNECT_SECONDS = "3";

  /** Beyond what statements are given, so that a network that swallows everything is noticed. */
  private static final int ANSWER_MILLIS_MAX = 60_000;

  private static final int UNBOUNDED = 0;

  private final DatabaseSettings settings;
  private final String applicationName;
  private Connection connection;

  private Session(DatabaseSettings settings, String applicationName, Connection connection) {
    this.settings = settings;
    this.applicationName = applicationName;
    this.connection = connection;
  }

  /**
   * Connects.
   *
   * @param applicationName by which others find it in {@code pg_stat_activity}
   * @throws DatabaseUnavailable if that fails
   */
  public static Session open(DatabaseSettings settings, String applicationName) {
    return new Session(settings, applicationName, connect(settings, applicationName));
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
        throw new LockTimeout(operation, thrown);
      }
      if (SqlState.isCancelled(thrown)) {
        throw new StatementTimeout(operation, thrown);
      }
      if (SqlState.isOutage(thrown)) {
        throw new DatabaseUnavailable(operation, thrown);
      }
      throw thrown;
    }
  }

  private void connect(int answerMillisMax) {
    try {
      if (connection.isClosed()) {
        connection = connect(settings, applicationName);
      }
      connection.setNetworkTimeout(Runnable::run, answerMillisMax);
    } catch (SQLException odd) {
      throw new DatabaseUnavailable("connect", odd);
    }
  }

  private DSLContext context() {
    return DSL.using(
        connection,
        SQLDialect.POSTGRES,
        new Settings()
            .withRenderQuotedNames(RenderQuotedNames.EXPLICIT_DEFAULT_UNQUOTED)
            .withExecuteLogging(false)
            .withFetchWarnings(false));
  }

  private static Connection connect(DatabaseSettings settings, String applicationName) {
    Properties properties = new Properties();
    properties.setProperty("user", settings.user());
    properties.setProperty("password", settings.password());
    properties.setProperty("ApplicationName", applicationName);
    properties.setProperty("connectTimeout", CONNECT_SECONDS);
    properties.setProperty("tcpKeepAlive", "true");
    try {
      return DriverManager.getConnection(settings.url(), properties);
    } catch (SQLException refused) {
      throw new DatabaseUnavailable("connect", refused);
    }
  }
}
