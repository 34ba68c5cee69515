package dev.coatcheck.postgres.connection;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

/**
 * A few connections for work that must not wait behind requests: leases and polls. Overload on the
 * large pool can't cost an instance its worker.
 */
public final class SmallPool extends HikariDataSource {
  private static final int CONNECTIONS = 2;
  private static final int CONNECT_SECONDS = 1;
  private static final int SOCKET_SECONDS = 10;
  private static final int POLL_SOCKET_SECONDS = 1;
  private static final int VALIDATION_MILLIS = 500;
  private static final int CONNECTION_WAIT_MILLIS = 800;

  private SmallPool(HikariConfig config) {
    super(config);
  }

  /** Opens the pool without waiting for Postgres. */
  public static SmallPool open(DatabaseSettings settings, String poolName) {
    return open(settings, poolName, CONNECTIONS, SOCKET_SECONDS);
  }

  /** For one thread that polls: a connection that hangs is given up after a second. */
  public static SmallPool ofOne(DatabaseSettings settings, String poolName) {
    return open(settings, poolName, 1, POLL_SOCKET_SECONDS);
  }

  private static SmallPool open(
      DatabaseSettings settings, String poolName, int connections, int socketSeconds) {
    HikariConfig config = new HikariConfig();
    config.setPoolName(poolName);
    config.setJdbcUrl(settings.url());
    config.setDataSourceProperties(settings.properties(CONNECT_SECONDS, socketSeconds));
    // A PgBouncer before 1.21 in transaction mode loses prepared statements.
    config.addDataSourceProperty("prepareThreshold", 0);
    config.setMaximumPoolSize(connections);
    config.setConnectionTimeout(CONNECTION_WAIT_MILLIS);
    config.setValidationTimeout(VALIDATION_MILLIS);
    config.setInitializationFailTimeout(-1);
    return new SmallPool(config);
  }
}
