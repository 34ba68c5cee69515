package dev.coatcheck.postgres.connection;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Properties;

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

  private final PatientSource source;

  private SmallPool(HikariConfig config, PatientSource source) {
    super(config);
    this.source = source;
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
    Properties properties = settings.properties(CONNECT_SECONDS, socketSeconds);
    // A PgBouncer before 1.21 in transaction mode loses prepared statements.
    properties.setProperty("prepareThreshold", "0");
    PatientSource source = new PatientSource(settings.url(), properties);
    HikariConfig config = new HikariConfig();
    config.setPoolName(poolName);
    config.setDataSource(source);
    config.setMaximumPoolSize(connections);
    config.setConnectionTimeout(CONNECTION_WAIT_MILLIS);
    config.setValidationTimeout(VALIDATION_MILLIS);
    config.setInitializationFailTimeout(-1);
    return new SmallPool(config, source);
  }

  /** The reason of a failure is that of the last attempt to connect. */
  @Override
  public Connection getConnection() throws SQLException {
    try {
      return super.getConnection();
    } catch (SQLTransientConnectionException late) {
      throw source.lastFailure().map(why -> because(late, why)).orElse(late);
    }
  }

  private static SQLTransientConnectionException because(
      SQLTransientConnectionException late, SQLException why) {
    return new SQLTransientConnectionException(late.getMessage(), why.getSQLState(), why);
  }

  /** The source first, or an attempt to connect would be waited for. */
  @Override
  public void close() {
    source.close();
    super.close();
  }
}
