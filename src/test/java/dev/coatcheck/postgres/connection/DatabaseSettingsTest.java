package dev.coatcheck.postgres.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.FreePort;
import dev.coatcheck.postgres.sql.PgBouncer;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When connections ask for time-outs and a search path of Postgres's own objects. */
class DatabaseSettingsTest {
  private static final TestDatabase DATABASE = TestDatabase.fresh();

  /** Otherwise a gateway would be without bounds for its life. */
  @Test
  void aServerThatIsFullOrAwayForAMomentLeavesNoConnectionUnbounded() {
    String role = "crowded_" + UUID.randomUUID().toString().replace('-', '_');
    DATABASE.sql().execute("create role " + role + " login password 'x' connection limit 0");
    try {
      assertThat(new DatabaseSettings(DATABASE.url(), role, "x", 1).boundedIfPossible().isBounded())
          .isTrue();
    } finally {
      DATABASE.sql().execute("drop role " + role);
    }
    assertThat(DATABASE.behind(FreePort.next()).settings(1).boundedIfPossible().isBounded())
        .isTrue();
  }

  @Test
  void aPoolerThatRefusesThemIsUsedWithoutThem(@TempDir Path folder) throws IOException {
    assumeTrue(PgBouncer.program().isPresent(), "no pgbouncer is installed");
    try (PgBouncer pooler = PgBouncer.start(folder, DATABASE, "session", 8, false, false)) {
      assertThat(pooler.database().settings(1).boundedIfPossible().isBounded()).isFalse();
    }
  }
}
