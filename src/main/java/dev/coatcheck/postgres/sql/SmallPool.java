package dev.coatcheck.postgres.sql;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import javax.sql.DataSource;

/**
 * A few connections for work that must not wait behind requests: leases and polls. Overload on the
 * large pool can't cost an instance its worker.
 */
public final class SmallPool implements AutoCloseable {
  private static final int CONNECTIONS = 2;
  private static final int POLL_SOCKET_SECONDS = 1;
  private static final int CONNECTION_WAIT_MILLIS = 800;

  private final HikariDataSource pool;

  private SmallPool(HikariDataSource pool) {
    this.pool = pool;
  }

  /** Opens the pool without waiting for Postgres. */
  public static SmallPool open(DatabaseSettings settings, String poolName) {
    return open(settings, poolName, CONNECTIONS, Database.SOCKET_SECONDS);
  }

  /** For one thread that polls: a connection that hangs is given up after a second. */
  public static SmallPool ofOne(DatabaseSettings settings, String poolName) {
    return open(settings, poolName, 1, POLL_SOCKET_SECONDS);
  }

  private static SmallPool open(
      DatabaseSettings settings, String poolName, int connections, int socketSeconds) {
    HikariConfig config = Database.pool(settings, poolName);
    config.setMaximumPoolSize(connections);
    config.setConnectionTimeout(CONNECTION_WAIT_MILLIS);
    config.addDataSourceProperty("socketTimeout", socketSeconds);
    // A PgBouncer before 1.21 in transaction mode loses prepared statements.
    config.addDataSourceProperty("prepareThreshold", 0);
    return new SmallPool(new HikariDataSource(config));
  }

  public DataSource dataSource() {
    return pool;
  }

  @Override
  public void close() {
    pool.close();
  }
}
