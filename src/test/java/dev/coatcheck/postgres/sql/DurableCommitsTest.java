package dev.coatcheck.postgres.sql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.SmallPool;
import dev.coatcheck.postgres.session.Session;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A server that is told to be fast while a gateway runs, after the check of its start. */
class DurableCommitsTest {
  private static final String SETTING =
      "select setting || ' ' || source from pg_settings where name = 'synchronous_commit'";

  private final TestDatabase database = TestDatabase.empty();

  /** What is set for a session stays, whatever is set for its role or the server meanwhile. */
  @ParameterizedTest
  @CsvSource({"off,on", "on,on", "local,local", "remote_apply,remote_apply"})
  void noConnectionCommitsWithoutWaitingForTheDisk(String found, String kept) throws SQLException {
    database
        .sql()
        .execute("alter database %s set synchronous_commit = %s".formatted(database.name(), found));

    try (SmallPool pool = SmallPool.open(database.settings(1), "test");
        Connection connection = pool.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(SETTING)) {
      assertThat(row.next()).isTrue();
      assertThat(row.getString(1)).isEqualTo(kept + " session");
    }
    try (Database pool = Database.open(database.settings(1), "test", new Observer())) {
      assertThat(pool.<Object>read("test", sql -> sql.fetchValue(SETTING)))
          .isEqualTo(kept + " session");
    }
    try (Session session = Session.openUnpinned(database.settings(1), "test")) {
      assertThat(session.<Object>transaction("test", sql -> sql.fetchValue(SETTING)))
          .isEqualTo(kept + " session");
    }
  }
}
