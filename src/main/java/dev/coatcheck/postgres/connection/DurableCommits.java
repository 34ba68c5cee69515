package dev.coatcheck.postgres.connection;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** Sessions whose commits wait for the disk. */
public final class DurableCommits {
  private static final String PIN =
      """
      select pg_catalog.set_config('synchronous_commit', pg_catalog.replace(
               pg_catalog.current_setting('synchronous_commit'), 'off', 'on'), false)\
      """;

  private DurableCommits() {}

  /**
   * Pins {@code synchronous_commit} for the session, so that nobody can switch it off for the role,
   * the database or the server meanwhile: a crash of Postgres would then lose what was
   * acknowledged, and grant again what was granted. Stronger settings stay as they are.
   *
   * @param millisMax for the answer of Postgres
   * @throws SQLException if that fails; the connection is closed then
   */
  public static Connection pin(Connection connection, int millisMax) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      int before = connection.getNetworkTimeout();
      connection.setNetworkTimeout(Runnable::run, millisMax);
      boolean _ = statement.execute(PIN);
      connection.setNetworkTimeout(Runnable::run, before);
      return connection;
    } catch (SQLException failed) {
      connection.close();
      throw failed;
    }
  }
}
