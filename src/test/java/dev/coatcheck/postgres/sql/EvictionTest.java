package dev.coatcheck.postgres.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.Deadline;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class EvictionTest {
  @Test
  void aTransactionWithoutTimeLeftEndsAsAnOutageAndTheNextAnswersAreRight() {
    TestDatabase test = TestDatabase.empty();
    try (Database database =
        Database.open(
            new DatabaseSettings(test.url(), test.user(), test.password(), 2),
            "evicted",
            new Observer())) {
      for (int i = 0; i < 4; i++) {
        assertThatThrownBy(
                () ->
                    Deadline.after(Duration.ofMillis(300))
                        .call(
                            () -> database.write("test", sql -> sql.fetch("select pg_sleep(60)"))))
            .isInstanceOf(DatabaseUnavailable.class);
      }
      for (int i = 0; i < 100; i++) {
        int expected = i;
        assertThat(
                database.<Integer>write(
                    "test", sql -> sql.fetchSingle("select " + expected).get(0, Integer.class)))
            .isEqualTo(expected);
      }
    }
  }
}
