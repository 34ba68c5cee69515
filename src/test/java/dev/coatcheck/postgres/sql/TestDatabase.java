package dev.coatcheck.postgres.sql;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;

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

  /** The flags that lead a command to this database. */
  public List<String> flags() {
    return List.of(
        "--database-url=" + url,
        "--database-user=" + user,
        "--database-password-file=" + fileWith(password));
  }

  /** A file that holds a password, deleted when the JVM ends. */
  public static Path fileWith(String password) {
    try {
      Path file = Files.createTempFile("coatcheck-test-", ".password");
      file.toFile().deleteOnExit();
      return Files.writeString(file, password + "\n");
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
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
