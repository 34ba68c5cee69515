package dev.coatcheck.postgres.sql;

import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/** One statement on a connection of its own, for tests of what lies below the pool. */
public record Query(String url, String user, String password) {
  public static Query on(EmbeddedDatabase database) {
    return new Query(database.jdbcUrl(), database.user(), database.password());
  }

  public static Query on(TestDatabase database) {
    return new Query(database.url(), database.user(), database.password());
  }

  public void execute(String sql) throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** The first column of the first row. */
  public @Nullable String text(String sql) throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(sql)) {
      result.next();
      return result.getString(1);
    }
  }

  private Connection connect() throws SQLException {
    return DriverManager.getConnection(url, user, password);
  }
}
