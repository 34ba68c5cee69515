package dev.coatcheck.lease;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;

/** A Postgres with our schema, shared by the tests of this package, and statements on it. */
final class LeaseDatabase {
  private static final LeaseDatabase SHARED = start();

  private final EmbeddedPostgres postgres;
  private final DataSource direct;

  private LeaseDatabase(EmbeddedPostgres postgres) {
    this.postgres = postgres;
    this.direct = postgres.getPostgresDatabase();
  }

  /** The database without any lease. */
  static LeaseDatabase fresh() {
    SHARED.execute("truncate coatcheck.worker_lease");
    return SHARED;
  }

  private static LeaseDatabase start() {
    try {
      EmbeddedPostgres postgres =
          EmbeddedPostgres.builder()
              .setServerConfig("synchronous_commit", "on")
              .setServerConfig("timezone", "Asia/Kathmandu")
              .start();
      Flyway.configure()
          .dataSource(postgres.getPostgresDatabase())
          .defaultSchema("coatcheck")
          .locations("filesystem:migrations")
          .load()
          .migrate();
      return new LeaseDatabase(postgres);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  String url() {
    return postgres.getJdbcUrl("postgres", "postgres");
  }

  /** A pool as the gateway has it for its leases. */
  HikariDataSource pool() {
    return pool(url());
  }

  static HikariDataSource pool(String url) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(2);
    config.setConnectionTimeout(800);
    config.setValidationTimeout(500);
    config.setInitializationFailTimeout(-1);
    config.addDataSourceProperty("connectTimeout", 1);
    config.addDataSourceProperty("socketTimeout", 1);
    config.addDataSourceProperty("prepareThreshold", 0);
    return new HikariDataSource(config);
  }

  void execute(String sql) {
    try (Connection connection = direct.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  long number(String sql) {
    try (Connection connection = direct.getConnection();
        Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(sql)) {
      result.next();
      return result.getLong(1);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  Connection connect() throws SQLException {
    return direct.getConnection();
  }
}
