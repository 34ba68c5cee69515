package dev.coatcheck.db;

/**
 * Where Postgres is and how to log in.
 *
 * @param url a JDBC URL, {@code jdbc:postgresql://host:port/database}
 * @param connectionsMax size of the pool; 8 to 10 were best on two cores, more made it slower
 */
public record DatabaseSettings(String url, String user, String password, int connectionsMax) {
  /** Leaves the password out. */
  @Override
  public String toString() {
    return "DatabaseSettings[url=" + url + ", user=" + user + "]";
  }
}
