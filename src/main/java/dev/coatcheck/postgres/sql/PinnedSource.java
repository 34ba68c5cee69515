package dev.coatcheck.postgres.sql;

import dev.coatcheck.postgres.connection.DatabaseSettings;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Connects for migrations, where others may have created operators in {@code public}. The search
 * path is set by a statement, because some poolers refuse or drop what a connection begins with.
 */
final class PinnedSource extends PGSimpleDataSource {
  private final String url;
  private final String user;
  private final String password;

  PinnedSource(DatabaseSettings settings) {
    url = settings.url();
    user = settings.user();
    password = settings.password();
  }

  @Override
  public Connection getConnection() throws SQLException {
    Connection connection = DriverManager.getConnection(url, user, password);
    try (Statement statement = connection.createStatement()) {
      statement.execute(PlainSql.PIN_PATH);
      return connection;
    } catch (SQLException failed) {
      connection.close();
      throw failed;
    }
  }
}
