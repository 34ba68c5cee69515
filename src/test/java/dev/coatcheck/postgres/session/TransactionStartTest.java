package dev.coatcheck.postgres.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TransactionStart;
import java.time.Duration;
import java.util.List;
import org.jooq.DSLContext;
import org.junit.jupiter.api.Test;

/** A source's server ends each of our transactions by itself whose client is gone or cut off. */
class TransactionStartTest {
  private static final TestDatabase DATABASE = TestDatabase.empty();
  private static final DatabaseSettings SETTINGS = DATABASE.settings(1);

  private static final String SHOWN =
      """
      select current_setting(name)
        from unnest(array['idle_in_transaction_session_timeout', 'tcp_keepalives_idle',
                          'tcp_keepalives_interval', 'tcp_keepalives_count', 'tcp_user_timeout',
                          'client_connection_check_interval']) as name\
      """;

  private static final List<String> BOUND =
      List.of("10s", "10", "5", "3", isOnLinux() ? "20000" : "0", "5s");

  @Test
  void soBeginsEveryTransactionOfAPoolAndTheNextUserOfTheConnectionHasItsOwn() {
    try (Database pool = Database.openPinned(SETTINGS, "source", new Observer())) {
      List<String> before = pool.read("test", TransactionStartTest::shown);
      assertThat(before).isNotEqualTo(BOUND);

      assertThat(pool.write("test", TransactionStartTest::shown)).isEqualTo(BOUND);
      assertThat(
              pool.begunBy(TransactionStart.OF_SNAPSHOT).write("test", TransactionStartTest::shown))
          .isEqualTo(BOUND);
      assertThat(
              Deadline.after(Duration.ofMinutes(1))
                  .call(() -> pool.read("test", TransactionStartTest::shown)))
          .isEqualTo(BOUND);
      assertThat(
              pool.begunBy(TransactionStart.named("another"))
                  .write("test", TransactionStartTest::name))
          .containsExactly("another");

      assertThat(pool.read("test", TransactionStartTest::shown)).isEqualTo(before);
      assertThat(pool.read("test", TransactionStartTest::name)).containsExactly("coatcheck");
    }
  }

  @Test
  void soBeginsEveryTransactionOfASessionAndEachStatementThatIsNone() {
    for (Session session :
        List.of(
            Session.open(SETTINGS, "session"),
            Session.openUnpinned(SETTINGS, "session"),
            Session.openWatched(SETTINGS, "session", WatchTimeouts.DEFAULT, _ -> {}))) {
      try (session) {
        assertThat(session.transaction("test", TransactionStartTest::shown)).isEqualTo(BOUND);
        assertThat(session.transaction("test", 100, TransactionStartTest::shown)).isEqualTo(BOUND);
        assertThat(session.longTransaction("test", TransactionStartTest::shown)).isEqualTo(BOUND);
        session.alone("test", "create table public.seen as " + SHOWN);
        assertThat(DATABASE.sql().texts("select * from public.seen")).isEqualTo(BOUND);
        session.alone("test", "drop table public.seen");
      }
    }
  }

  private static List<String> shown(DSLContext sql) {
    return PlainSql.rows(sql, SHOWN, row -> row.getString(1));
  }

  private static List<String> name(DSLContext sql) {
    return PlainSql.rows(
        sql, "select current_setting('application_name')", row -> row.getString(1));
  }

  private static boolean isOnLinux() {
    return DATABASE.sql().number("select (version() ~ 'linux')::int") == 1;
  }
}
