package dev.coatcheck.postgres.sql;

import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Statements of a test beside the code under test, each call in a session that is as good as new. A
 * statement that fails ends the test, with the driver's exception as the cause.
 */
public record TestSql(String url, String user, String password) {
  public static TestSql on(EmbeddedDatabase database) {
    return new TestSql(database.jdbcUrl(), database.user(), database.password());
  }

  public static TestSql on(TestDatabase database) {
    return new TestSql(database.url(), database.user(), database.password());
  }

  /**
   * The same, with names that have no schema meant in {@code public}, whatever the user is called.
   */
  public TestSql inPublic() {
    return new TestSql(
        url + (url.contains("?") ? "&" : "?") + "currentSchema=public", user, password);
  }

  /** The same database, as another role. */
  public TestSql as(String role, String itsPassword) {
    return new TestSql(url, role, itsPassword);
  }

  /** The statements one by one, each in a transaction of its own unless they begin one. */
  public void execute(String... statements) {
    IdleSession.call(this, session -> session.execute(statements));
  }

  /** The first column of the first row. */
  public @Nullable String text(String query) {
    return IdleSession.call(this, session -> session.text(query));
  }

  /** The first column of the first row, as a number. */
  public long number(String query) {
    return IdleSession.call(this, session -> session.number(query));
  }

  /** The first column. */
  public List<String> texts(String query) {
    return IdleSession.call(this, session -> session.texts(query));
  }

  /** The first column, as numbers. */
  public List<Long> numbers(String query) {
    return IdleSession.call(this, session -> session.numbers(query));
  }

  /** A session that stays, to be closed by the caller. */
  public TestSession session() {
    try {
      return new TestSession(connect());
    } catch (SQLException failed) {
      throw new AssertionError(failed);
    }
  }

  /** A session with an open transaction in which these statements were executed. */
  public TestSession begin(String... statements) {
    return session().begin(statements);
  }

  /** For what only JDBC can say: batches, isolation, COPY. */
  public Connection connect() throws SQLException {
    return DriverManager.getConnection(url, user, password);
  }

  /** Makes our own schema. */
  public void migrate() {
    var _ = SchemaMigration.flyway(new TestDatabase(url, user, password).settings(1)).migrate();
  }
}
