package dev.coatcheck.ids.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.lease.DatabaseProcess;
import dev.coatcheck.cluster.lease.FakeTime;
import dev.coatcheck.core.id.Sha256;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.Database;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConsoleSessionStoreTest {
  @TempDir Path folder;

  /** As an API key does: the clocks of two gateways may differ. */
  @Test
  @Tag("faults")
  void aSessionAgesByTheClockOfPostgres() throws Exception {
    Assumptions.assumeTrue(
        FakeTime.in(folder).isPresent(),
        "libfaketime is not installed; on Debian the package is faketime");
    FakeTime clock = FakeTime.in(folder).orElseThrow();
    long lifetime = ConsoleSessions.LIFETIME.toMillis();
    try (DatabaseProcess postgres =
            DatabaseProcess.start(folder.resolve("postgres-home"), clock.environment());
        Database database =
            Database.open(postgres.database().settings(2), "test", new Observer())) {
      ConsoleSessionStore store = new ConsoleSessionStore(database);
      byte[] hash = Sha256.of("session");
      clock.jump(-2 * lifetime);
      store.insert(hash, "0pfJbjSiNCzb", Actor.operator());

      clock.jump(-lifetime - Duration.ofMinutes(5).toMillis());
      assertThat(store.keyId(hash)).contains("0pfJbjSiNCzb");
      assertThat(store.keyIds(List.of(hash)))
          .isEqualTo(Map.of(ByteBuffer.wrap(hash), "0pfJbjSiNCzb"));

      clock.jump(-lifetime + Duration.ofMinutes(5).toMillis());
      assertThat(store.keyId(hash)).isEmpty();
      assertThat(store.keyIds(List.of(hash))).isEmpty();
    }
  }
}
