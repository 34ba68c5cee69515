package dev.coatcheck.postgres.sql;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import java.util.function.Function;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.conf.RenderQuotedNames;
import org.jooq.conf.Settings;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.jooq.impl.DataSourceConnectionProvider;
import org.jooq.impl.DefaultConfiguration;
import org.jooq.impl.ThreadLocalTransactionProvider;

/**
 * A pool of connections to Postgres and the two ways to use it: {@link #read} and {@link #write}.
 * Nothing here depends on session state, so a PgBouncer in transaction mode may stand between.
 *
 * <p>Every wait is bounded: 500 ms for a connection from the pool, 1 s to connect, 10 s for an
 * answer on the socket.
 */
public final class Database implements AutoCloseable {
  private static final int CONNECTION_WAIT_MILLIS = 500;
  private static final int CONNECT_SECONDS = 1;
  static final int SOCKET_SECONDS = 10;
  private static final int ROLLED_BACK_TRIES_MAX = 4;

  private final HikariDataSource pool;
  private final DSLContext sql;
  private final Observer observer;

  private Database(HikariDataSource pool, Observer observer) {
    this.pool = pool;
    this.observer = observer;
    var connections = new DataSourceConnectionProvider(pool);
    this.sql =
        DSL.using(
            new DefaultConfiguration()
                .set(SQLDialect.POSTGRES)
                .set(connections)
                .set(new ThreadLocalTransactionProvider(connections))
                .set(
                    new Settings()
                        .withRenderQuotedNames(RenderQuotedNames.EXPLICIT_DEFAULT_UNQUOTED)
                        .withExecuteLogging(false)
                        .withFetchWarnings(false)));
  }

  /** Opens the pool without waiting for Postgres; the first use finds out whether it is there. */
  public static Database open(DatabaseSettings settings, String poolName, Observer observer) {
    HikariConfig config = pool(settings, poolName);
    config.setMaximumPoolSize(settings.connectionsMax());
    config.setConnectionTimeout(CONNECTION_WAIT_MILLIS);
    config.setMetricRegistry(observer.meters());
    return new Database(new HikariDataSource(config), observer);
  }

  /** What all our pools have in common: no wait is without a bound. */
  static HikariConfig pool(DatabaseSettings settings, String poolName) {
    HikariConfig config = new HikariConfig();
    config.setPoolName(poolName);
    config.setJdbcUrl(settings.url());
    config.setUsername(settings.user());
    config.setPassword(settings.password());
    config.setValidationTimeout(500);
    config.setInitializationFailTimeout(-1);
    config.addDataSourceProperty("ApplicationName", "coatcheck");
    config.addDataSourceProperty("connectTimeout", CONNECT_SECONDS);
    config.addDataSourceProperty("socketTimeout", SOCKET_SECONDS);
    config.addDataSourceProperty("tcpKeepAlive", true);
    return config;
  }

  /**
   * Runs statements that change nothing, each in a transaction of its own. A connection that turns
   * out to be dead is replaced and the work run once more: Hikari doesn't test one that was used
   * less than 500 ms ago, so the first use after a restart of Postgres fails.
   *
   * @throws DatabaseUnavailable if Postgres can't be asked
   */
  public <T> T read(String operation, Function<DSLContext, T> work) {
    try {
      return work.apply(sql);
    } catch (DataAccessException first) {
      if (!SqlState.isOutage(first) || SqlState.isPoolExhausted(first)) {
        throw failed(operation, first);
      }
      try {
        return work.apply(sql);
      } catch (DataAccessException second) {
        throw failed(operation, second);
      }
    }
  }

  /**
   * Runs the work in one transaction and returns after its commit. Run again if Postgres rolled it
   * back for a deadlock or a serialization failure, so the work must not have effects elsewhere.
   *
   * @throws DatabaseUnavailable if Postgres can't be asked or broke off; the outcome is unknown
   */
  public <T> T write(String operation, Function<DSLContext, T> work) {
    for (int tried = 1; ; tried++) {
      try {
        return sql.transactionResult(transaction -> work.apply(transaction.dsl()));
      } catch (DataAccessException thrown) {
        if (tried == ROLLED_BACK_TRIES_MAX || !SqlState.isRolledBack(SqlState.of(thrown))) {
          throw failed(operation, thrown);
        }
      }
    }
  }

  /** Whether Postgres answers now. */
  public boolean isReachable() {
    try {
      return read("ping", statements -> statements.selectOne().fetchOne() != null);
    } catch (DatabaseUnavailable gone) {
      return false;
    }
  }

  @Override
  public void close() {
    pool.close();
  }

  HikariDataSource pool() {
    return pool;
  }

  private RuntimeException failed(String operation, DataAccessException thrown) {
    if (!SqlState.isOutage(thrown)) {
      return thrown;
    }
    if (SqlState.isLockTimeout(thrown)) {
      observer.observe(new Event.LockTimedOut(operation));
      return new LockTimeout(operation, thrown);
    }
    observer.observe(new Event.DatabaseFailed(operation, SqlState.of(thrown), thrown));
    return new DatabaseUnavailable(operation, thrown);
  }
}
