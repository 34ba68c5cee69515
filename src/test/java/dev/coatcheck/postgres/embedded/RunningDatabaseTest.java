package dev.coatcheck.postgres.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.sql.TestSql;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a command sees of the instance that runs on a home. */
class RunningDatabaseTest {
  @Test
  @Tag("faults")
  void theInstanceOfAnotherProcessIsFoundAndAnOrphanIsNot() throws Exception {
    try (TestHome home = TestHome.fresh()) {
      Process gateway = GatewayProcess.start(home.path());
      try (BufferedReader output = gateway.inputReader()) {
        assertThat(output.readLine()).isEqualTo("1");
        DatabaseSettings found = EmbeddedDatabase.running(home.path(), 1).orElseThrow();
        assertThat(new TestSql(found.url(), found.user(), found.password()).text("select 1"))
            .isEqualTo("1");
        assertThatThrownBy(() -> EmbeddedDatabase.start(home.path()))
            .hasMessageContaining("is in use by another instance");
      } finally {
        gateway.destroyForcibly().waitFor();
      }
      assertThat(EmbeddedDatabase.running(home.path(), 1)).isEmpty();
      EmbeddedDatabase.start(home.path()).close();
    }
  }

  @Test
  @Tag("faults")
  void aLocaleThatIsNotInstalledStopsNoStart() throws Exception {
    try (TestHome home = TestHome.fresh()) {
      Process gateway =
          GatewayProcess.start(home.path(), Map.of("LC_ALL", "xx_YY.UTF-8", "LANG", "xx_YY.UTF-8"));
      try (BufferedReader output = gateway.inputReader()) {
        assertThat(output.readLine()).isEqualTo("1");
      } finally {
        gateway.destroyForcibly().waitFor();
      }
      EmbeddedDatabase.start(home.path()).close();
    }
  }

  @Test
  void nothingRunsOnAHomeThatIsNotThereOrNotUsed() throws Exception {
    try (TestHome home = TestHome.fresh()) {
      assertThat(EmbeddedDatabase.running(home.path(), 1)).isEmpty();
      assertThat(EmbeddedDatabase.running(home.path().resolve("none"), 1)).isEmpty();
      assertThat(home.path().resolve("none")).doesNotExist();
    }
  }

  @Test
  void anInstanceThatIsStartingIsSaid() throws Exception {
    try (TestHome home = TestHome.fresh();
        HomeLock starting = HomeLock.take(home.path().toRealPath())) {
      assertThat(starting).isNotNull();
      assertStarting(home);
      Path data = Files.createDirectory(home.path().resolve("data"));
      Files.writeString(
          data.resolve("postmaster.pid"), "1\n/d\n1\n5432\n\n127.0.0.1\n1 1\nstarting\n");
      assertStarting(home);
      Files.write(data.resolve("postmaster.pid"), new byte[] {0, -1, 10, 'x'});
      assertStarting(home);
    }
  }

  private static void assertStarting(TestHome home) {
    assertThatThrownBy(() -> EmbeddedDatabase.running(home.path(), 1))
        .isInstanceOf(EmbeddedDatabaseFailed.class)
        .hasMessageContaining(home + " is starting or stopping");
  }
}
