package dev.coatcheck.postgres.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.UnusableDatabase;
import dev.coatcheck.postgres.sql.TestServer;
import dev.coatcheck.postgres.sql.TestSql;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A database that is started and stopped, what a crash may leave behind, and homes that can't be
 * used: each of these gets one line that names the home.
 */
class EmbeddedDatabaseTest {
  private static final int ROWS_BEFORE_THE_KILL = 200;
  private static final String IN_USE = "in use";

  @TempDir static Path folder;
  private static Path home;
  private static Path elsewhere;
  private static EmbeddedDatabase running;

  @TempDir Path own;

  @BeforeAll
  static void anEarlierRunAndADatabaseThatRuns() throws Exception {
    home = folder.resolve("a home");
    Files.createDirectories(home.resolve("data.new-1/base"));
    Files.writeString(home.resolve("database-password"), "half");
    start(home).close();
    elsewhere = folder.resolve("elsewhere");
    running = start(elsewhere);
  }

  @AfterAll
  static void stop() throws Exception {
    running.close();
  }

  @Test
  void interruptedFirstStartIsBegunAnew() {
    assertThat(home.resolve("data.new-1")).doesNotExist();
  }

  @Test
  void nothingRunsAfterCloseAndRowsSurviveARestart() throws Exception {
    EmbeddedDatabase database = start(home);
    TestSql.on(database).execute("create table kept as select 7 as n");
    assertThat(ProcessHandle.allProcesses()).anyMatch(process -> names(process, home));
    database.close();
    database.close();
    assertThat(ProcessHandle.allProcesses()).noneMatch(process -> names(process, home));
    try (EmbeddedDatabase again = start(home)) {
      assertThat(TestSql.on(again).text("select n from kept")).isEqualTo("7");
    }
  }

  @Test
  void homeAndPasswordAreTheOwnersOnly() throws Exception {
    assertThat(permissions(elsewhere)).isEqualTo("rwx------");
    assertThat(permissions(elsewhere.resolve("database-password"))).isEqualTo("rw-------");
    TestSql guess = new TestSql(running.jdbcUrl(), running.user(), "guess");
    assertThatThrownBy(() -> guess.text("select 1"))
        .hasMessageContaining("password authentication failed");
  }

  /** Its 128 random bits need no iterations, which each connection would pay for. */
  @Test
  void thePasswordIsCheckedInOneIteration() {
    assertThat(
            TestSql.on(running)
                .text("select rolpassword from pg_authid where rolname = current_user"))
        .startsWith("SCRAM-SHA-256$1:");
  }

  @Test
  void commitsAreDurableAndOnlyLoopbackIsServed() {
    TestSql query = TestSql.on(running);
    assertThat(query.text("show fsync")).isEqualTo("on");
    assertThat(query.text("show synchronous_commit")).isEqualTo("on");
    assertThat(query.text("show full_page_writes")).isEqualTo("on");
    assertThat(query.text("show listen_addresses")).isEqualTo("127.0.0.1");
    assertThat(query.text("show unix_socket_directories")).isEmpty();
    assertThat(query.text("show server_encoding")).isEqualTo("UTF8");
    assertThat(query.text("show server_version")).startsWith(PostgresBinaries.MAJOR_VERSION + ".");
  }

  /** Told by SIGTERM, at the first sign of each stage: initdb, Postgres, a database in use. */
  @ParameterizedTest
  @ValueSource(strings = {"data.new-*/base", "data/postmaster.pid", IN_USE})
  void aProcessThatIsToldToEndLeavesNoPostgresBehind(String sign) throws Exception {
    Path told = folder.resolve("told");
    Process gateway = GatewayProcess.start(told);
    try (BufferedReader output = gateway.inputReader()) {
      if (sign.equals(IN_USE)) {
        assertThat(output.readLine()).isEqualTo("1");
      } else {
        awaitSign(told, sign);
      }
      gateway.destroy();
      assertThat(gateway.waitFor()).isEqualTo(128 + 15);
    }

    assertThat(ProcessHandle.allProcesses()).noneMatch(process -> names(process, told));
  }

  @Test
  @Tag("faults")
  void aProcessThatIsToldToEndWhileItUnpacksThePostgresLeavesNothingOfIt() throws Exception {
    Path told = folder.resolve("unpacking");
    Process gateway = GatewayProcess.unpacking(told);
    awaitSign(told, "postgres/unpacking");
    gateway.destroy();
    assertThat(gateway.waitFor()).isEqualTo(128 + 15);

    assertThat(told.resolve("postgres/unpacking")).doesNotExist();
    try (EmbeddedDatabase next = EmbeddedDatabase.start(told)) {
      assertThat(TestSql.on(next).text("select 1")).isEqualTo("1");
    }
  }

  @Test
  @Tag("faults")
  void anInitdbThatAKilledStartLeftIsEndedByTheNext() throws Exception {
    Path killed = folder.resolve("killed in initdb");
    Process gateway = GatewayProcess.start(killed);
    awaitSign(killed, "data.new-*/base");
    gateway.destroyForcibly().waitFor();

    start(killed).close();
    assertThat(ProcessHandle.allProcesses()).noneMatch(process -> names(process, killed));
    try (Stream<Path> left = Files.list(killed)) {
      assertThat(left).noneMatch(path -> path.getFileName().toString().startsWith("data.new-"));
    }
  }

  private static boolean names(ProcessHandle process, Path home) {
    return process.info().commandLine().orElse("").contains(home.toString());
  }

  private static void awaitSign(Path folder, String glob) {
    Awaitility.await().pollInterval(Duration.ofMillis(5)).until(() -> isThere(folder, glob));
  }

  private static boolean isThere(Path folder, String glob) throws IOException {
    PathMatcher matcher = folder.getFileSystem().getPathMatcher("glob:" + folder + "/" + glob);
    try (Stream<Path> found = Files.find(folder, 2, (path, _) -> matcher.matches(path))) {
      return found.findAny().isPresent();
    } catch (NoSuchFileException | UncheckedIOException changed) {
      return false;
    }
  }

  @Test
  @Tag("faults")
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
  @Tag("faults")
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
    Files.copy(elsewhere.resolve("data/postmaster.pid"), pidFile());
    start(home).close();
    assertThat(TestSql.on(running).text("select 1")).isEqualTo("1");
  }

  @Test
  void garbageInThePidFileIsIgnored() throws Exception {
    Files.write(pidFile(), new byte[] {0, -1, 10, 'x'});
    start(home).close();
  }

  @Test
  void homeInUseIsRefused() throws Exception {
    assertRefused(
        elsewhere, "The home " + elsewhere.toRealPath() + " is in use by another instance");
    assertThat(TestSql.on(running).text("select 1")).isEqualTo("1");
  }

  @Test
  void dataOfAnotherVersionIsRefused() throws Exception {
    Path data = Files.createDirectories(own.resolve("data"));
    Files.writeString(data.resolve("PG_VERSION"), "17\n");
    assertRefused(own, "holds data of Postgres 17, and this is Postgres 18");
  }

  @Test
  void directoryOfSomethingElseIsRefusedAndKept() throws Exception {
    Path letter = Files.createDirectories(own.resolve("data")).resolve("letter.txt");
    Files.writeString(letter, "dear diary");
    assertRefused(own, "is not empty and holds no Postgres data");
    assertThat(letter).hasContent("dear diary");
  }

  @Test
  void lostPasswordIsSaid() throws Exception {
    Path data = Files.createDirectories(own.resolve("data"));
    Files.writeString(data.resolve("PG_VERSION"), PostgresBinaries.MAJOR_VERSION + "\n");
    assertRefused(own, "database-password is missing");
  }

  @Test
  void homeBelowAFileIsRefused() throws Exception {
    Files.writeString(own.resolve("file"), "");
    assertRefused(own.resolve("file/home"), "file is not a directory");
  }

  @Test
  void homeThatTheFileSystemDoesNotMakeIsRefusedInPlainWords() {
    assumeTrue(Files.isDirectory(Path.of("/proc/self")), "nobody can make a folder in /proc");
    assertThatThrownBy(() -> start(Path.of("/proc/x")))
        .hasMessage("Can't use the home /proc/x: can't make /proc/x.");
  }

  @Test
  void unwritableHomeIsRefused() throws Exception {
    assumeFalse(System.getProperty("user.name").equals("root"), "root may write everywhere");
    Path home = Files.createDirectory(own.resolve("home"));
    Files.setPosixFilePermissions(home, PosixFilePermissions.fromString("r-x------"));
    assertRefused(home, "permission denied");
  }

  @Test
  void homeWhoseNameAShellWouldReadIsRefused() {
    assertRefused(own.resolve("$HOME"), "its path holds");
  }

  @Test
  void theWordsOfInitdbAreShownWhenItFails() throws Exception {
    Path home = own.resolve("home");
    assertThatThrownBy(
            () ->
                EmbeddedDatabase.start(
                    home,
                    programsWith(
                        """
                        echo 'creating configuration files ... ok'
                        echo 'FATAL:  could not create shared memory segment'
                        echo 'HINT:  raise the limit of the kernel'
                        echo 'child process exited with exit code 1'
                        exit 1
                        """)))
        .isInstanceOf(UnusableDatabase.class)
        .hasMessageContaining("could not create shared memory segment")
        .hasMessageContaining("initdb.log");
    assertThat(home.resolve("initdb.log")).content().contains("HINT:  raise the limit");
  }

  /** Programs of which initdb is a script. */
  private Path programsWith(String initdb) throws IOException {
    Path programs = Files.createDirectory(own.resolve("programs"));
    try (Stream<Path> unpacked = Files.list(TestServer.PROGRAMS)) {
      for (Path version : unpacked.filter(Files::isDirectory).toList()) {
        Path bin = Files.createDirectories(programs.resolve(version.getFileName()).resolve("bin"));
        Path script = Files.writeString(bin.resolve("initdb"), "#!/bin/sh\n" + initdb);
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
      }
    }
    return programs;
  }

  private static void assertRefused(Path home, String reason) {
    assertThatThrownBy(() -> EmbeddedDatabase.start(home, TestServer.PROGRAMS))
        .isInstanceOf(UnusableDatabase.class)
        .hasMessageContaining(reason)
        .hasMessageContaining(home.toString())
        .hasMessageNotContaining("\n");
  }

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
        .isInstanceOf(UnusableDatabase.class)
        .hasMessageContaining(home + " is starting or stopping");
  }

  private static Path pidFile() {
    return home.resolve("data/postmaster.pid");
  }

  private static EmbeddedDatabase start(Path home) throws UnusableDatabase {
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

  private static String permissions(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }
}
