package dev.coatcheck.postgres.sql;

import java.sql.SQLException;

/**
 * A database for one test class, on the Postgres that all tests of this JVM share. It is dropped
 * when the JVM ends. Sessions don't run in UTC: the build sets another zone for the whole JVM.
 */
public record TestDatabase(String url, String user, String password) {
  /** A database with our schema and no rows. */
  public static TestDatabase fresh() {
    return TestServer.shared().migrated();
  }

  /** A database with nothing in it. */
  public static TestDatabase empty() {
    return TestServer.shared().empty();
  }

  /** Takes Postgres away from whoever uses the database, or gives it back. */
  public void setReachable(boolean reachable) {
    String name = url.replaceAll(".*/([^/?]+)(\\?.*)?", "$1");
    Query server = new Query(url.replaceAll("/[^/?]+(\\?.*)?$", "/postgres"), user, password);
    try {
      server.execute("alter database " + name + " allow_connections " + reachable);
      if (!reachable) {
        server.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = '"
                + name
                + "'");
      }
    } catch (SQLException failed) {
      throw new AssertionError(failed);
    }
  }
}
