package dev.coatcheck.postgres.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.postgres.sql.TestServer;
import dev.coatcheck.postgres.sql.TestSql;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedDatabaseTest {
  @TempDir static Path folder;
  private static Path home;

  @BeforeAll
  static void rowsOfAnEarlierRun() throws Exception {
    home = folder.resolve("a home");
    try (EmbeddedDatabase database = start()) {
      TestSql.on(database).execute("create table kept as select 7 as n");
    }
  }

  @Test
  void rowsSurviveARestart() throws Exception {
    try (EmbeddedDatabase database = start()) {
      assertThat(TestSql.on(database).text("select n from kept")).isEqualTo("7");
    }
  }

  @Test
  void nothingRunsAfterClose() throws Exception {
    EmbeddedDatabase database = start();
    assertThat(ProcessHandle.allProcesses()).anyMatch(EmbeddedDatabaseTest::isOfTheHome);
    database.close();
    database.close();
    assertThat(ProcessHandle.allProcesses()).noneMatch(EmbeddedDatabaseTest::isOfTheHome);
  }

  @Test
  void homeAndPasswordAreTheOwnersOnly() throws Exception {
    assertThat(permissions(home)).isEqualTo("rwx------");
    assertThat(permissions(home.resolve("database-password"))).isEqualTo("rw-------");
    try (EmbeddedDatabase database = start()) {
      TestSql guess = new TestSql(database.jdbcUrl(), database.user(), "guess");
      assertThatThrownBy(() -> guess.text("select 1"))
          .hasMessageContaining("password authentication failed");
    }
  }

  @Test
  void commitsAreDurableAndOnlyLoopbackIsServed() throws Exception {
    try (EmbeddedDatabase database = start()) {
      TestSql query = TestSql.on(database);
      assertThat(query.text("show fsync")).isEqualTo("on");
      assertThat(query.text("show synchronous_commit")).isEqualTo("on");
      assertThat(query.text("show full_page_writes")).isEqualTo("on");
      assertThat(query.text("show listen_addresses")).isEqualTo("127.0.0.1");
      assertThat(query.text("show unix_socket_directories")).isEmpty();
      assertThat(query.text("show server_encoding")).isEqualTo("UTF8");
      assertThat(query.text("show server_version"))
          .startsWith(PostgresBinaries.MAJOR_VERSION + ".");
    }
  }

  private static EmbeddedDatabase start() throws EmbeddedDatabaseFailed {
    return EmbeddedDatabase.start(home, TestServer.PROGRAMS);
  }

  private static boolean isOfTheHome(ProcessHandle process) {
    return process.info().commandLine().orElse("").contains(home.toString());
  }

  private static String permissions(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }
}
