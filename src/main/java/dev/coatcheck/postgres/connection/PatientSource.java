package dev.coatcheck.postgres.connection;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Connects for a pool, and keeps trying while Postgres is away. Hikari would pause for longer after
 * each failure, up to 5 s, and so notice up to 5 s late that Postgres is back.
 */
final class PatientSource extends PGSimpleDataSource implements AutoCloseable {
  /**
   * Pins the setting for the session, so that nobody can switch it off for the role, the database
   * or the server while the gateway runs: a crash of Postgres would then lose what was
   * acknowledged, and grant again what was granted.
   */
  private static final String DURABLE =
      """
      select pg_catalog.set_config('synchronous_commit', pg_catalog.replace(
               pg_catalog.current_setting('synchronous_commit'), 'off', 'on'), false)\
      """;

  private static final int DURABLE_MILLIS_MAX = 1_000;
  private static final long PAUSE_MILLIS = 100;
  private static final int CLOSE_SECONDS_MAX = 2;

  private final String url;
  private final Properties properties;
  private volatile @Nullable SQLException lastFailure;
  private volatile boolean closed;

  PatientSource(String url, Properties properties) {
    this.url = url;
    this.properties = properties;
  }

  /**
   * Returns once Postgres lets us in.
   *
   * @throws SQLException once this is closed
   */
  @Override
  public Connection getConnection() throws SQLException {
    while (true) {
      try {
        Connection connection = durable(DriverManager.getConnection(url, properties));
        lastFailure = null;
        return connection;
      } catch (SQLException failed) {
        lastFailure = failed;
        if (closed) {
          throw failed;
        }
        pause(failed);
      }
    }
  }

  private static Connection durable(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      int before = connection.getNetworkTimeout();
      connection.setNetworkTimeout(Runnable::run, DURABLE_MILLIS_MAX);
      boolean _ = statement.execute(DURABLE);
      connection.setNetworkTimeout(Runnable::run, before);
      return connection;
    } catch (SQLException failed) {
      connection.close();
      throw failed;
    }
  }

  @Override
  public void close() {
    closed = true;
  }

  /** Why the last attempt failed; empty if it didn't. */
  Optional<SQLException> lastFailure() {
    return Optional.ofNullable(lastFailure);
  }

  private static void pause(SQLException failed) throws SQLException {
    try {
      TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
      throw failed;
    }
  }

  /** The properties have what a connection may take; Hikari sets it here for all drivers. */
  @Override
  public void setLoginTimeout(int seconds) {}

  /** Seconds that Hikari waits for the last attempt when it closes. */
  @Override
  public int getLoginTimeout() {
    return CLOSE_SECONDS_MAX;
  }
}
