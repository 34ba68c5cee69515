package dev.coatcheck.bench.footprint;

import dev.coatcheck.postgres.connection.DatabaseSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Has an embedded Postgres log every statement, and counts them. */
final class StatementLogStore {
  /** Of the simple and of the extended protocol; without the empty one that tests a connection. */
  private static final Pattern STATEMENT = Pattern.compile("LOG:  (statement|execute [^:]*): *\\S");

  private final DatabaseSettings superuser;
  private final Path log;

  StatementLogStore(DatabaseSettings superuser, Path log) {
    this.superuser = superuser;
    this.log = log;
  }

  void begin() {
    execute("alter system set log_statement = 'all'", "select pg_reload_conf()");
  }

  void end() {
    execute("alter system reset log_statement", "select pg_reload_conf()");
  }

  /** So far. */
  long count() throws IOException {
    try (Stream<String> lines = Files.lines(log)) {
      return lines.filter(line -> STATEMENT.matcher(line).find()).count();
    }
  }

  private void execute(String... commands) {
    try (Connection connection =
            DriverManager.getConnection(superuser.url(), superuser.user(), superuser.password());
        Statement statement = connection.createStatement()) {
      for (String command : List.of(commands)) {
        statement.execute(command);
      }
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
  }
}
