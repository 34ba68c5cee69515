package dev.coatcheck.cluster.lease;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;

/** A Postgres with our schema, shared by the tests of this package, and statements on it. */
final class LeaseDatabase {
  /** Apart, because the minting processes use this class too and need no database of their own. */
  private static final class Shared {
    static final LeaseDatabase DATABASE = new LeaseDatabase(TestDatabase.fresh());
  }

  private final TestDatabase database;
  private final TestSession session;

  private LeaseDatabase(TestDatabase database) {
    this.database = database;
    this.session = database.sql().session();
  }

  /** The database without any lease. */
  static LeaseDatabase fresh() {
    Shared.DATABASE.execute(
        "truncate coatcheck.worker_lease, coatcheck.worker_lease_origin, coatcheck.lease_window;"
            + " insert into coatcheck.worker_lease_origin"
            + " select system_identifier from pg_control_system()");
    return Shared.DATABASE;
  }

  TestDatabase server() {
    return database;
  }

  /** A pool as the gateway has it for its leases. */
  HikariDataSource pool() {
    return pool(database);
  }

  static HikariDataSource pool(TestDatabase database) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(database.url());
    config.setUsername(database.user());
    config.setPassword(database.password());
    config.setMaximumPoolSize(2);
    config.setConnectionTimeout(800);
    config.setValidationTimeout(500);
    config.setInitializationFailTimeout(-1);
    config.addDataSourceProperty("connectTimeout", 1);
    config.addDataSourceProperty("socketTimeout", 1);
    config.addDataSourceProperty("prepareThreshold", 0);
    return new HikariDataSource(config);
  }

  synchronized void execute(String sql) {
    session.execute(sql);
  }

  synchronized long number(String sql) {
    return session.number(sql);
  }
}
