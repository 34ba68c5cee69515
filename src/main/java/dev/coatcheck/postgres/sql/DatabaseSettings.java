package dev.coatcheck.postgres.sql;

import java.net.UnknownHostException;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;

/**
 * Where Postgres is and how to log in.
 *
 * @param url a JDBC URL, {@code jdbc:postgresql://host:port/database}
 * @param connectionsMax size of the pool; 8 to 10 were best on two cores, more made it slower
 */
public record DatabaseSettings(String url, String user, String password, int connectionsMax) {
  private static final String CONNECT_SECONDS = "3";
  private static final String SOCKET_SECONDS = "10";

  /**
   * Connects once, outside of any pool, which would only say that it has no connection.
   *
   * @throws UnusableDatabase with the reason if that is refused
   */
  public void requireReachable() throws UnusableDatabase {
    Properties properties = new Properties();
    properties.setProperty("user", user);
    properties.setProperty("password", password);
    properties.setProperty("ApplicationName", "coatcheck");
    properties.setProperty("connectTimeout", CONNECT_SECONDS);
    properties.setProperty("socketTimeout", SOCKET_SECONDS);
    try {
      DriverManager.getConnection(url, properties).close();
    } catch (SQLException refused) {
      throw new UnusableDatabase(
          "The database at "
              + url
              + " can't be reached as user "
              + user
              + ": "
              + reason(refused)
              + ". Check COATCHECK_DATABASE_URL, _USER and _PASSWORD.");
    }
  }

  /** The words of Postgres, or those of the network if there were none. */
  private static String reason(SQLException refused) {
    Throwable root = refused;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    String words = String.valueOf(root.getMessage());
    return root instanceof UnknownHostException
        ? "unknown host " + words
        : words.replaceFirst("^FATAL: ", "").replaceFirst("\\.$", "");
  }

  /** Leaves the password out. */
  @Override
  public String toString() {
    return "DatabaseSettings[url=" + url + ", user=" + user + "]";
  }
}
