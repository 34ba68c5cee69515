package dev.coatcheck.app.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.FutureTask;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class SlowStartTest {
  private static final String WAITING =
      "select pid from pg_stat_activity"
          + " where datname = current_database() and wait_event_type = 'Lock'";

  @Test
  void aStartTriesAgainWhileTheDatabaseAnswersTooLate() throws Exception {
    TestDatabase database = TestDatabase.fresh();
    FutureTask<Gateway> start = new FutureTask<>(() -> Gateway.start(config(database)));
    try (TestSession busy = database.sql().session();
        TestSession beside = database.sql().session()) {
      busy.begin("lock table coatcheck.type in access exclusive mode");
      Thread.ofVirtual().start(start);

      Set<Long> asked = new HashSet<>();
      Awaitility.await()
          .until(
              () -> {
                asked.addAll(beside.numbers(WAITING));
                return asked.size() > 1 || start.isDone();
              });
      busy.rollback();

      try (Gateway gateway = start.get()) {
        assertThat(gateway.url()).startsWith("http");
      }
      assertThat(asked).hasSizeGreaterThan(1);
    }
  }

  private static Config config(TestDatabase database) {
    Map<String, String> environment =
        Map.of(
            "COATCHECK_PORT", "0",
            "COATCHECK_DATABASE_URL", database.url(),
            "COATCHECK_DATABASE_USER", database.user(),
            "COATCHECK_DATABASE_PASSWORD", database.password());
    return switch (Config.read(environment, Map.of())) {
      case Config.Parsed.Valid(Config valid) -> valid;
      case Config.Parsed.Invalid invalid -> throw new AssertionError(invalid.faults());
    };
  }
}
