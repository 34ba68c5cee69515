package dev.coatcheck.cluster.lease;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** A Postgres with our schema, shared by the tests of this package, and statements on it. */
final class LeaseDatabase {
  /** Apart, because the minting processes use this class too and need no database of their own. */
  private static final class Shared {
    static final LeaseDatabase DATABASE = new LeaseDatabase(TestDatabase.fresh());
  }

  private final TestDatabase database;
  private final Connection connection;

  private LeaseDatabase(TestDatabase database) {
    this.database = database;
    try {
      this.connection = connect();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The database without any lease. */
  static LeaseDatabase fresh() {
    Shared.DATABASE.execute(
        "truncate coatcheck.worker_lease, coatcheck.worker_lease_origin;"
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
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  synchronized long number(String sql) {
    try (Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(sql)) {
      result.next();
      return result.getLong(1);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  /** One more connection, to hold locks with. */
  Connection connect() throws SQLException {
    return DriverManager.getConnection(database.url(), database.user(), database.password());
  }
}
