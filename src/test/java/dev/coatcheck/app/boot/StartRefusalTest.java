package dev.coatcheck.app.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import dev.coatcheck.postgres.embedded.TestHome;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSql;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Starts that can't succeed: each says why in one line, without a log or a stack trace. */
class StartRefusalTest {
  @TempDir Path folder;

  private static TestHome home;
  private static GatewayChild running;
  private static DatabaseSettings database;

  @BeforeAll
  static void anInstanceThatRuns() throws Exception {
    home = TestHome.fresh();
    running = GatewayChild.serve(home.path());
    database = EmbeddedDatabase.running(home.path(), 1).orElseThrow();
  }

  @AfterAll
  static void stop() {
    running.close();
    home.close();
  }

  @Test
  void portInUse() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.1"))) {
      String port = Integer.toString(taken.getLocalPort());
      assertRefused(
          List.of("Can't listen on 127.0.0.1:" + port, "Address already in use", "COATCHECK_PORT"),
          onDatabase(database.url(), database.password(), "--port=" + port));
    }
  }

  @Test
  void hostOfNobody() throws Exception {
    assertRefused(
        List.of("Can't listen on no-such-host.invalid:0: unknown host.", "_HOST"),
        onDatabase(database.url(), database.password(), "--host=no-such-host.invalid"));
  }

  @Test
  void homeInUseByAnotherInstance() throws Exception {
    assertRefused(
        List.of("The home " + home.path().toRealPath() + " is in use", "COATCHECK_HOME"),
        List.of("--home=" + home));
  }

  @Test
  void dataDirectoryOfAnotherVersion() throws Exception {
    Path data = Files.createDirectories(folder.resolve("data"));
    Files.writeString(data.resolve("PG_VERSION"), "17\n");
    assertRefused(
        List.of("holds data of Postgres 17, and this is Postgres 18", "COATCHECK_HOME"),
        List.of("--home=" + folder));
  }

  @Test
  void unreachableDatabase() throws Exception {
    assertRefused(
        List.of(
            "The database at jdbc:postgresql://127.0.0.1:1/coatcheck can't be reached as user"
                + " coatcheck: Connection refused.",
            "COATCHECK_DATABASE_URL"),
        onDatabase("jdbc:postgresql://127.0.0.1:1/coatcheck", "secret"));
    assertRefused(
        List.of("unknown host no-such-host.invalid."),
        onDatabase("jdbc:postgresql://no-such-host.invalid/coatcheck", "secret"));
  }

  @Test
  void badPassword() throws Exception {
    assertRefused(
        List.of("password authentication failed for user \"coatcheck\"", "_PASSWORD"),
        onDatabase(database.url(), "not-the-password"));
  }

  @Test
  void databaseThatIsNotThere() throws Exception {
    assertRefused(
        List.of("database \"nothing\" does not exist"),
        onDatabase(database.url().replaceFirst("coatcheck$", "nothing"), database.password()));
  }

  @Test
  void userWhoMayNotMakeTheSchema() throws Exception {
    execute("create role guest login password 'secret'", "create database \"Empty\"");
    List<String> flags = onDatabase(database.url().replaceFirst("coatcheck$", "Empty"), "secret");
    flags.set(flags.indexOf("--database-user=coatcheck"), "--database-user=guest");
    assertRefused(
        List.of("may not make the schema", "run: grant create on database \"Empty\" to guest."),
        flags);
  }

  @Test
  void databaseThatMayLoseWhatItAcknowledged() throws Exception {
    execute("create database forgetful", "alter database forgetful set synchronous_commit = off");
    assertRefused(
        List.of("The database can't be used: synchronous_commit is off"),
        onDatabase(database.url().replaceFirst("coatcheck$", "forgetful"), database.password()));

    // The library's own server is made for tests, and runs without fsync.
    try (EmbeddedPostgres hasty =
        EmbeddedPostgres.builder()
            .setDataDirectory(folder.resolve("hasty"))
            .setLocaleConfig("locale", "C")
            .setRegisterShutdownHook(false)
            .start()) {
      String url = "jdbc:postgresql://127.0.0.1:" + hasty.getPort() + "/postgres";
      List<String> flags = onDatabase(url, "any");
      flags.set(flags.indexOf("--database-user=coatcheck"), "--database-user=postgres");
      assertRefused(
          List.of("fsync is off, so the database may lose committed data; turn it on"), flags);
    }
  }

  @Test
  void configurationWithSeveralFaults() throws Exception {
    GatewayChild.Ended ended =
        GatewayChild.run(
            "serve",
            "--port=tcp://10.0.0.1:8080",
            "--database-connections=1",
            "--database-url=jdbc:postgresql://db/coatcheck?password=hunter2",
            "--redirect-hosts=,");
    assertThat(ended.status()).isEqualTo(2);
    assertThat(ended.out()).isEmpty();
    assertThat(ended.err()).first().isEqualTo("coatcheck: the configuration has 5 faults:");
    assertThat(ended.err())
        .hasSize(6)
        .anyMatch(line -> line.startsWith("  - COATCHECK_PORT (--port) "))
        .anyMatch(line -> line.startsWith("  - COATCHECK_DATABASE_CONNECTIONS "))
        .anyMatch(
            line ->
                line.startsWith(
                    "  - COATCHECK_DATABASE_URL (--database-url) contains a password, and the URL"
                        + " is printed"))
        .anyMatch(line -> line.startsWith("  - COATCHECK_DATABASE_USER "))
        .anyMatch(line -> line.startsWith("  - COATCHECK_REDIRECT_HOSTS "))
        .noneMatch(line -> line.contains("hunter2"));
  }

  @Test
  void flagThatDoesNotExist() throws Exception {
    GatewayChild.Ended ended = GatewayChild.run("serve", "--prot=8080");
    assertThat(ended.status()).isEqualTo(2);
    assertThat(ended.err()).first().isEqualTo("Unknown option: '--prot=8080'");
  }

  private static List<String> onDatabase(String url, String password, String... more) {
    List<String> flags =
        new ArrayList<>(
            List.of(
                "--database-url=" + url,
                "--database-user=coatcheck",
                "--database-password-file=" + TestDatabase.fileWith(password)));
    flags.addAll(List.of(more));
    return flags;
  }

  private static void assertRefused(List<String> reasons, List<String> flags) throws Exception {
    List<String> arguments = new ArrayList<>(List.of("serve"));
    if (flags.stream().noneMatch(flag -> flag.startsWith("--port="))) {
      arguments.add("--port=0");
    }
    arguments.addAll(flags);
    GatewayChild.Ended ended = GatewayChild.run(arguments.toArray(String[]::new));
    assertThat(ended.err())
        .singleElement()
        .asString()
        .startsWith("coatcheck: ")
        .contains(reasons)
        .doesNotContain("secret", "not-the-password");
    assertThat(ended.out()).isEmpty();
    assertThat(ended.status()).isEqualTo(1);
  }

  private static void execute(String... statements) {
    new TestSql(database.url(), database.user(), database.password()).execute(statements);
  }
}
