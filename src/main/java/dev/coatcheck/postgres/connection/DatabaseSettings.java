package dev.coatcheck.postgres.connection;

import dev.coatcheck.core.observe.RootCause;
import java.net.UnknownHostException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;

/**
 * Where Postgres is and how to log in.
 *
 * @param url a JDBC URL, {@code jdbc:postgresql://host:port/database}
 * @param connectionsMax size of the pool; 8 to 10 were best on two cores, more made it slower
 * @param isBounded whether statements of the pools have the time-outs {@value #BOUNDS}, except
 *     where a job sets its own
 * @param shards where the rows of its distributed tables are
 */
public record DatabaseSettings(
    String url,
    String user,
    String password,
    int connectionsMax,
    boolean isBounded,
    Shards shards) {
  /**
   * Leaves a connection nothing but Postgres's own functions, operators and types. On a database
   * where others may create such things a call without a schema would otherwise run theirs, as our
   * user, wherever their arguments fit better.
   */
  public static final String PINNED = "-c search_path=pg_catalog,pg_temp";

  /**
   * Sent when a connection begins, so that Postgres itself gives up what nobody waits for any more,
   * and nobody else who logs in as this user is bound by it. Beyond the longest statement of a read
   * or a mint, within the deadline of its request.
   */
  static final String BOUNDS = "-c statement_timeout=850ms -c lock_timeout=700ms " + PINNED;

  private static final int CONNECT_SECONDS = 3;
  private static final int SOCKET_SECONDS = 10;

  public DatabaseSettings(String url, String user, String password, int connectionsMax) {
    this(url, user, password, connectionsMax, false, Shards.ONE_TABLE);
  }

  /**
   * Connects once, outside of any pool, which would only say that it has no connection.
   *
   * @throws UnusableDatabase with the reason if that is refused
   */
  public void requireReachable() throws UnusableDatabase {
    try {
      DriverManager.getConnection(url, properties(CONNECT_SECONDS, SOCKET_SECONDS)).close();
    } catch (SQLException refused) {
      throw new UnusableDatabase(
          "The database at %s can't be reached as user %s: %s. Check COATCHECK_DATABASE_URL, _USER and _PASSWORD."
              .formatted(url, user, reason(refused)));
    }
  }

  /**
   * The same with time-outs and a pinned search path, unless connections may not ask for them: a
   * pooler between may refuse to hand them on. A server that is full or away says nothing of that.
   */
  public DatabaseSettings boundedIfPossible() {
    DatabaseSettings bounded = bounded();
    try {
      DriverManager.getConnection(url, bounded.properties(CONNECT_SECONDS, SOCKET_SECONDS)).close();
      return bounded;
    } catch (SQLException refused) {
      return SqlState.isRefusal(refused) ? this : bounded;
    }
  }

  DatabaseSettings bounded() {
    return new DatabaseSettings(url, user, password, connectionsMax, true, shards);
  }

  /** The same database, after its shards were read. */
  public DatabaseSettings over(Shards known) {
    return new DatabaseSettings(url, user, password, connectionsMax, isBounded, known);
  }

  /** The same database with a pool of another size. */
  public DatabaseSettings ofConnections(int max) {
    return new DatabaseSettings(url, user, password, max, isBounded, shards);
  }

  /** The same without settings of the connection. */
  Properties properties(int connectSeconds, int socketSeconds) {
    return properties(connectSeconds, socketSeconds, "");
  }

  /** For the driver: no wait is without a bound. */
  public Properties properties(int connectSeconds, int socketSeconds, String options) {
    Properties properties = new Properties();
    properties.setProperty("user", user);
    properties.setProperty("password", password);
    properties.setProperty("ApplicationName", "coatcheck");
    properties.setProperty("connectTimeout", Integer.toString(connectSeconds));
    properties.setProperty("loginTimeout", Integer.toString(connectSeconds));
    properties.setProperty("socketTimeout", Integer.toString(socketSeconds));
    properties.setProperty("tcpKeepAlive", "true");
    String all = (isBounded ? BOUNDS + " " : "") + options;
    if (!all.isEmpty()) {
      properties.setProperty("options", all.strip());
    }
    return properties;
  }

  /** The words of Postgres, or those of the network if there were none. */
  private static String reason(SQLException refused) {
    Throwable root = RootCause.of(refused);
    String words = String.valueOf(root.getMessage());
    if (root instanceof CertPathBuilderException || root instanceof CertPathValidatorException) {
      return "the certificate of the server is not of an authority in sslrootcert (" + words + ")";
    }
    if (words.contains("could not be verified by hostnameverifier")) {
      return "the certificate of the server is not for this host";
    }
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
