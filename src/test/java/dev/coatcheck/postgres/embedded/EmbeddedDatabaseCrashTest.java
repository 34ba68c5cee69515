package dev.coatcheck.postgres.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.postgres.sql.TestServer;
import dev.coatcheck.postgres.sql.TestSql;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a crash of the gateway, of its Postgres or of the machine may leave behind. */
class EmbeddedDatabaseCrashTest {
  private static final int ROWS_BEFORE_THE_KILL = 200;

  @TempDir static Path folder;
  private static Path home;

  @BeforeAll
  static void homeOfAnEarlierRun() throws Exception {
    home = folder.resolve("home");
    start(home).close();
  }

  @Test
  void committedRowsSurviveTheKillOfTheGateway() throws Exception {
    Path killed = folder.resolve("killed");
    int acknowledged = commitRowsThenKill(killed);
    try (EmbeddedDatabase database = start(killed)) {
      assertThat(
              TestSql.on(database)
                  .text("select count(*) from committed where n <= " + acknowledged))
          .isEqualTo(Integer.toString(acknowledged));
    }
  }

  @Test
  void orphanIsEndedEvenWhenItsPidFileIsGarbage() throws Exception {
    Path killed = folder.resolve("killed-and-garbled");
    int acknowledged = commitRowsThenKill(killed);
    Files.writeString(killed.resolve("data/postmaster.pid"), "no number\n");
    try (EmbeddedDatabase database = start(killed)) {
      assertThat(TestSql.on(database).text("select n from committed where n = " + acknowledged))
          .isEqualTo(Integer.toString(acknowledged));
    }
  }

  @Test
  void killOfPostgresItselfLosesNoCommittedRow() throws Exception {
    try (EmbeddedDatabase database = start(home)) {
      TestSql.on(database).execute("create table survivor as select 7 as n");
      long pid = Long.parseLong(Files.readAllLines(pidFile()).getFirst());
      ProcessHandle.of(pid).orElseThrow().destroyForcibly();
    }
    try (EmbeddedDatabase database = start(home)) {
      assertThat(TestSql.on(database).text("select n from survivor")).isEqualTo("7");
    }
  }

  @Test
  void pidFileThatNamesALivingStrangerIsStale() throws Exception {
    Process stranger = new ProcessBuilder("sleep", "600").start();
    try {
      writePidFile(stranger.pid());
      start(home).close();
      assertThat(stranger.isAlive()).isTrue();
    } finally {
      stranger.destroyForcibly();
    }
  }

  @Test
  void pidFileThatNamesAZombieIsStale() throws Exception {
    Process parent = new ProcessBuilder("sh", "-c", "true & echo $!; exec sleep 600").start();
    try (BufferedReader output = parent.inputReader()) {
      writePidFile(Long.parseLong(output.readLine()));
      start(home).close();
    } finally {
      parent.destroyForcibly();
    }
  }

  @Test
  void pidFileThatNamesThePostgresOfAnotherHomeIsStale() throws Exception {
    Path elsewhere = folder.resolve("elsewhere");
    try (EmbeddedDatabase other = start(elsewhere)) {
      Files.copy(elsewhere.resolve("data/postmaster.pid"), pidFile());
      start(home).close();
      assertThat(TestSql.on(other).text("select 1")).isEqualTo("1");
    }
  }

  @Test
  void garbageInThePidFileIsIgnored() throws Exception {
    Files.write(pidFile(), new byte[] {0, -1, 10, 'x'});
    start(home).close();
  }

  @Test
  void interruptedFirstStartIsBegunAnew() throws Exception {
    Path interrupted = folder.resolve("interrupted");
    Files.createDirectories(interrupted.resolve("data.new-1/base"));
    Files.writeString(interrupted.resolve("database-password"), "half");
    start(interrupted).close();
    assertThat(interrupted.resolve("data.new-1")).doesNotExist();
  }

  private static Path pidFile() {
    return home.resolve("data/postmaster.pid");
  }

  private static EmbeddedDatabase start(Path home) throws EmbeddedDatabaseFailed {
    return EmbeddedDatabase.start(home, TestServer.PROGRAMS);
  }

  private static void writePidFile(long pid) throws IOException {
    Files.writeString(
        pidFile(), pid + "\n" + home.resolve("data") + "\n1\n5432\n\n127.0.0.1\n1 1\nready\n");
  }

  /** How many rows the killed process had said were committed. */
  private static int commitRowsThenKill(Path home) throws IOException {
    Process gateway = GatewayProcess.start(home);
    try (BufferedReader output = gateway.inputReader()) {
      for (int n = 1; n <= ROWS_BEFORE_THE_KILL; n++) {
        assertThat(output.readLine()).isEqualTo(Integer.toString(n));
      }
      // The handle's kill, unlike the process's, leaves what was printed before readable.
      gateway.toHandle().destroyForcibly();
      return ROWS_BEFORE_THE_KILL + (int) output.lines().count();
    }
  }
}
