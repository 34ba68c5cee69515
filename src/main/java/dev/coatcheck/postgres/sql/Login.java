package dev.coatcheck.postgres.sql;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;

/**
 * How a connection outside of every pool is made, and made again.
 *
 * @param applicationName by which others find it in {@code pg_stat_activity}
 * @param options settings that the connection begins with, as {@code -c name=value}; may be empty
 */
record Login(
    DatabaseSettings settings,
    String applicationName,
    int connectSeconds,
    int loginSeconds,
    String options) {

  Connection connect() throws SQLException {
    return connect(loginSeconds);
  }

  /**
   * Connects in at most so many seconds, which also bound each of its answers until the network
   * time-out is set.
   */
  Connection connect(int secondsMax) throws SQLException {
    Properties properties = new Properties();
    properties.setProperty("user", settings.user());
    properties.setProperty("password", settings.password());
    properties.setProperty("ApplicationName", applicationName);
    properties.setProperty(
        "connectTimeout", Integer.toString(Math.min(connectSeconds, secondsMax)));
    properties.setProperty("loginTimeout", Integer.toString(secondsMax));
    // Ends the driver's thread that has been waited for in vain.
    properties.setProperty("socketTimeout", Integer.toString(secondsMax));
    properties.setProperty("tcpKeepAlive", "true");
    if (!options.isEmpty()) {
      properties.setProperty("options", options);
    }
    return DriverManager.getConnection(settings.url(), properties);
  }
}
