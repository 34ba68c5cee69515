package dev.coatcheck.db;

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
}
