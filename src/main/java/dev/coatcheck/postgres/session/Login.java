package dev.coatcheck.postgres.session;

import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.DurableCommits;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.TransactionStart;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;
import java.util.concurrent.TimeUnit;

/**
 * How to open a connection outside of every pool.
 *
 * @param applicationName the connection's name in {@code pg_stat_activity}
 * @param options settings from the start of the connection, as {@code -c name=value}; may be empty
 * @param start of each transaction
 */
record Login(
    DatabaseSettings settings,
    String applicationName,
    int connectSeconds,
    int loginSeconds,
    String options,
    TransactionStart start) {
  private static final int CONNECT_SECONDS = 3;
  private static final int LOGIN_SECONDS = 10;
  private static final int REQUEST_LOGIN_SECONDS = 1;

  /** With the user's search path, and without startup settings, which some poolers refuse. */
  static Login plain(DatabaseSettings settings, String applicationName) {
    return onSource(settings, applicationName, "");
  }

  /** With a search path that excludes schemas in which others can create objects. */
  static Login pinned(DatabaseSettings settings, String applicationName) {
    return onSource(settings, applicationName, DatabaseSettings.PINNED);
  }

  /** Like {@link #pinned}, with a timeout in milliseconds for each statement. */
  static Login pinned(DatabaseSettings settings, String applicationName, int statementMillisMax) {
    return onSource(
        settings,
        applicationName,
        DatabaseSettings.PINNED + " -c statement_timeout=" + statementMillisMax);
  }

  private static Login onSource(DatabaseSettings settings, String applicationName, String options) {
    return new Login(
        settings,
        applicationName,
        CONNECT_SECONDS,
        LOGIN_SECONDS,
        options,
        TransactionStart.ON_SOURCE);
  }

  /**
   * For a request to the gateway's own database: connects within a second. Pinned, if a pooler
   * between lets the pool's connections be.
   */
  static Login ofRequest(DatabaseSettings settings, String applicationName) {
    return new Login(
        settings,
        applicationName,
        REQUEST_LOGIN_SECONDS,
        REQUEST_LOGIN_SECONDS,
        settings.isBounded() ? DatabaseSettings.PINNED : "",
        TransactionStart.OURS);
  }

  Connection connect() {
    try {
      return connect(loginSeconds);
    } catch (SQLException refused) {
      throw new DatabaseUnavailable("connect", refused);
    }
  }

  /**
   * Connects within {@code secondsMax}, which also bounds each answer until the network timeout is
   * set.
   */
  Connection connect(int secondsMax) throws SQLException {
    // The time-out of the socket ends the driver's thread after its caller gave up waiting.
    Properties properties =
        new DatabaseSettings(settings.url(), settings.user(), settings.password(), 1)
            .properties(Math.min(connectSeconds, secondsMax), secondsMax, options);
    properties.setProperty("ApplicationName", applicationName);
    properties.setProperty("loginTimeout", Integer.toString(secondsMax));
    long begunNano = System.nanoTime();
    Connection connection = DriverManager.getConnection(settings.url(), properties);
    long leftMillis =
        TimeUnit.SECONDS.toMillis(secondsMax)
            - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begunNano);
    return DurableCommits.pin(connection, Math.toIntExact(Math.max(1, leftMillis)));
  }
}
