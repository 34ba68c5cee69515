package dev.coatcheck.postgres.sql;

import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A database for one test class, on the Postgres that all tests of this JVM share. It is dropped
 * when the JVM ends. Sessions don't run in UTC: the build sets another zone for the whole JVM.
 */
public record TestDatabase(String url, String user, String password) {
  private static final String LESSER_ROLE = "coatcheck_test_lesser";
  private static final String LESSER_PASSWORD = "only for tests";

  /** A database with our schema and no rows. */
  public static TestDatabase fresh() {
    return TestServer.shared().migrated();
  }

  /** A database with our schema, whose large tables are partitioned by their bucket. */
  public static TestDatabase partitioned() {
    TestDatabase database = TestServer.shared().migrated();
    if (!database.sql().texts("select 1 from pg_partitioned_table").isEmpty()) {
      return database; // all are
    }
    PartitionedTables.make(database.sql());
    return database;
  }

  public static TestDatabase on(EmbeddedDatabase database) {
    return new TestDatabase(database.jdbcUrl(), database.user(), database.password());
  }

  /** A database with nothing in it. */
  public static TestDatabase empty() {
    return TestServer.shared().empty();
  }

  /**
   * The same database for a role that may use our schema and owns nothing, as {@code coatcheck
   * database grants} describes it.
   */
  public TestDatabase asLesserRole() {
    sql()
        .execute(
            """
            do $$ begin
              create role %s login password '%s';
            exception when duplicate_object or unique_violation then
              null; -- roles belong to the server, which other tests use too
            end $$\
            """
                .formatted(LESSER_ROLE, LESSER_PASSWORD),
            Grants.sql(LESSER_ROLE));
    return new TestDatabase(url, LESSER_ROLE, LESSER_PASSWORD);
  }

  /** The port of its server. */
  public int port() {
    return address().getPort();
  }

  /** The same database by way of a proxy on this machine. */
  public TestDatabase behind(int proxyPort) {
    return new TestDatabase(
        url.replace(address().getAuthority(), "127.0.0.1:" + proxyPort), user, password);
  }

  private URI address() {
    return URI.create(url.substring("jdbc:".length()));
  }

  /** Statements on it, beside the code under test. */
  public TestSql sql() {
    return TestSql.on(this);
  }

  /** What a pool of so many connections needs. */
  public DatabaseSettings settings(int connections) {
    return new DatabaseSettings(url, user, password, connections);
  }

  public String name() {
    return url.replaceAll(".*/([^/?]+)(\\?.*)?", "$1");
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

  /** Whether Postgres answers now, through a pool. */
  public static boolean isReachable(Database pool) {
    try {
      return Deadline.ofAnswer()
          .call(() -> pool.read("ping", sql -> sql.selectOne().fetchOne() != null));
    } catch (DatabaseUnavailable gone) {
      return false;
    }
  }

  /** Takes Postgres away from the sessions of the database, or gives it back. */
  public void setReachable(boolean reachable) {
    TestSql server = new TestSql(url.replaceAll("/[^/?]+(\\?.*)?$", "/postgres"), user, password);
    server.execute("alter database " + name() + " allow_connections " + reachable);
    if (!reachable) {
      server.execute(
          "select pg_terminate_backend(pid) from pg_stat_activity where datname = '"
              + name()
              + "'");
    }
  }
}
