package dev.coatcheck.postgres.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.coatcheck.postgres.sql.TestServer;
import dev.coatcheck.postgres.sql.TestSql;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Homes that can't be used: each gets one line that names the home. */
class EmbeddedDatabaseRefusalTest {
  @TempDir Path folder;

  @Test
  void homeInUseIsRefusedToThisAndToAnotherProcess() throws Exception {
    Path home = folder.resolve("home");
    try (EmbeddedDatabase database = EmbeddedDatabase.start(home, TestServer.PROGRAMS)) {
      String reason = "The home " + home.toRealPath() + " is in use by another instance";
      assertRefused(home, reason);
      try (BufferedReader output = GatewayProcess.start(home).inputReader()) {
        assertThat(output.readLine()).startsWith(reason);
      }
      assertThat(TestSql.on(database).text("select 1")).isEqualTo("1");
    }
  }

  @Test
  void dataOfAnotherVersionIsRefused() throws Exception {
    Path data = Files.createDirectories(folder.resolve("data"));
    Files.writeString(data.resolve("PG_VERSION"), "17\n");
    assertRefused(folder, "holds data of Postgres 17, and this is Postgres 18");
    assertRefused(folder, "holds data of Postgres 17, and this is Postgres 18");
  }

  @Test
  void directoryOfSomethingElseIsRefusedAndKept() throws Exception {
    Path letter = Files.createDirectories(folder.resolve("data")).resolve("letter.txt");
    Files.writeString(letter, "dear diary");
    assertRefused(folder, "is not empty and holds no Postgres data");
    assertThat(letter).hasContent("dear diary");
  }

  @Test
  void lostPasswordIsSaid() throws Exception {
    Path data = Files.createDirectories(folder.resolve("data"));
    Files.writeString(data.resolve("PG_VERSION"), PostgresBinaries.MAJOR_VERSION + "\n");
    assertRefused(folder, "database-password is missing");
  }

  @Test
  void homeBelowAFileIsRefused() throws Exception {
    Files.writeString(folder.resolve("file"), "");
    assertRefused(folder.resolve("file/home"), "file is not a directory");
  }

  @Test
  void unwritableHomeIsRefused() throws Exception {
    assumeFalse(System.getProperty("user.name").equals("root"), "root may write everywhere");
    Path home = Files.createDirectory(folder.resolve("home"));
    Files.setPosixFilePermissions(home, PosixFilePermissions.fromString("r-x------"));
    assertRefused(home, "permission denied");
  }

  @Test
  void homeWhoseNameAShellWouldReadIsRefused() {
    assertRefused(folder.resolve("$HOME"), "its path holds");
  }

  @Test
  void theWordsOfInitdbAreShownWhenItFails() throws Exception {
    Path home = folder.resolve("home");
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
        .isInstanceOf(EmbeddedDatabaseFailed.class)
        .hasMessageContaining("could not create shared memory segment")
        .hasMessageContaining("initdb.log");
    assertThat(home.resolve("initdb.log")).content().contains("HINT:  raise the limit");
  }

  /** Programs of which initdb is a script. */
  private Path programsWith(String initdb) throws EmbeddedDatabaseFailed, IOException {
    EmbeddedDatabase.start(folder.resolve("unpacks"), TestServer.PROGRAMS).close();
    Path programs = Files.createDirectory(folder.resolve("programs"));
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
        .isInstanceOf(EmbeddedDatabaseFailed.class)
        .hasMessageContaining(reason)
        .hasMessageContaining(home.toString())
        .hasMessageNotContaining("\n");
  }
}
