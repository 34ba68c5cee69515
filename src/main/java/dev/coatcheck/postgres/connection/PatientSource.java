package dev.coatcheck.postgres.connection;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
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
  private static final int PIN_MILLIS_MAX = 1_000;
  private static final long PAUSE_MILLIS = 100;
  private static final int CLOSE_SECONDS_MAX = 2;

  private final String url;
  private final Properties properties;
  private final Optional<Properties> ifRefused;
  private volatile @Nullable SQLException lastFailure;
  private volatile boolean closed;

  PatientSource(String url, Properties properties) {
    this(url, properties, Optional.empty());
  }

  /**
   * @param ifRefused how to log in where Postgres, or a pooler between, refuses the first way
   */
  PatientSource(String url, Properties properties, Optional<Properties> ifRefused) {
    this.url = url;
    this.properties = properties;
    this.ifRefused = ifRefused;
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
        Connection connection = DurableCommits.pin(logIn(), PIN_MILLIS_MAX);
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

  private Connection logIn() throws SQLException {
    try {
      return DriverManager.getConnection(url, properties);
    } catch (SQLException failed) {
      if (ifRefused.isEmpty() || !SqlState.isRefusal(failed)) {
        throw failed;
      }
      return DriverManager.getConnection(url, ifRefused.get());
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
