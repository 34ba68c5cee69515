package dev.coatcheck.db;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import javax.sql.DataSource;

/**
 * A few connections for work that must not wait behind requests: leases and polls. Overload on the
 * large pool can't cost an instance its worker.
 */
public final class SmallPool implements AutoCloseable {
  private static final int CONNECTIONS = 2;
  private static final int CONNECTION_WAIT_MILLIS = 800;

  private final HikariDataSource pool;

  private SmallPool(HikariDataSource pool) {
    this.pool = pool;
  }

  /** Opens the pool without waiting for Postgres. */
  public static SmallPool open(DatabaseSettings settings, String poolName) {
    return open(settings, poolName, CONNECTIONS);
  }

  /** As {@link #open(DatabaseSettings, String)}, with as many connections as are wanted. */
  public static SmallPool open(DatabaseSettings settings, String poolName, int connections) {
    HikariConfig config = Database.pool(settings, poolName);
    config.setMaximumPoolSize(connections);
    config.setConnectionTimeout(CONNECTION_WAIT_MILLIS);
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
