package dev.coatcheck.app.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.app.cli.Terminal;
import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import dev.coatcheck.postgres.embedded.TestHome;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSql;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Starts that can't succeed: each says why in one line. */
class StartRefusalTest {
  private static TestHome home;
  private static EmbeddedDatabase database;

  @BeforeAll
  static void aHomeInUse() throws Exception {
    home = TestHome.fresh();
    database = EmbeddedDatabase.start(home.path());
  }

  @AfterAll
  static void stop() throws Exception {
    database.close();
    home.close();
  }

  /** In a process, as a user sees it: without a log or a stack trace. */
  @Test
  void portInUse() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.1"))) {
      List<String> arguments = serve("--port=" + taken.getLocalPort(), onDatabase("coatcheck"));
      GatewayChild.Ended ended = GatewayChild.run(arguments.toArray(String[]::new));
      assertThat(ended.err())
          .singleElement()
          .asString()
          .startsWith("coatcheck serve: Can't listen on 127.0.0.1:" + taken.getLocalPort())
          .contains("Address already in use", "COATCHECK_PORT");
      assertThat(ended.out()).isEmpty();
      assertThat(ended.status()).isEqualTo(1);
    }
  }

  @Test
  void hostOfNobody() {
    List<String> flags = onDatabase("coatcheck");
    flags.add("--host=no-such-host.invalid");
    assertRefused(flags, "Can't listen on no-such-host.invalid:0: unknown host.", "_HOST");
  }

  @Test
  void homeInUseByAnotherInstance() throws Exception {
    assertRefused(
        List.of("--home=" + home),
        "The home " + home.path().toRealPath() + " is in use",
        "COATCHECK_HOME");
  }

  @Test
  void unreachableDatabase() {
    assertRefused(
        on("jdbc:postgresql://127.0.0.1:1/coatcheck", "coatcheck", "secret"),
        "The database at jdbc:postgresql://127.0.0.1:1/coatcheck can't be reached as user"
            + " coatcheck: Connection refused.",
        "COATCHECK_DATABASE_URL");
    assertRefused(
        on("jdbc:postgresql://no-such-host.invalid/coatcheck", "coatcheck", "secret"),
        "unknown host no-such-host.invalid.");
  }

  @Test
  void badPassword() {
    assertRefused(
        on(database.jdbcUrl(), "coatcheck", "not-the-password"),
        "password authentication failed for user \"coatcheck\"",
        "_PASSWORD");
  }

  @Test
  void databaseThatIsNotThere() {
    assertRefused(onDatabase("nothing"), "database \"nothing\" does not exist");
  }

  @Test
  void userWhoMayNotMakeTheSchema() {
    execute("create role guest login password 'secret'", "create database \"Empty\"");
    assertRefused(
        on(url("Empty"), "guest", "secret"),
        "may not make the schema",
        "run: grant create on database \"Empty\" to guest.");
  }

  @Test
  void schemaOfADevelopmentVersion() {
    execute("create database early");
    TestSql early = new TestSql(url("early"), database.user(), database.password());
    early.migrate();
    early.execute("update coatcheck.flyway_schema_history set checksum = 1 where version = '001'");
    assertRefused(
        onDatabase("early"),
        "The schema \"coatcheck\" was made by a development version that was never released",
        "Drop it with \"drop schema coatcheck cascade\"",
        "or use another database or home.");
  }

  /** Rests after a failover are measured by one window. */
  @Test
  void windowThatOtherHoldersHaveNot() {
    execute("create database windowed");
    TestSql windowed = new TestSql(url("windowed"), database.user(), database.password());
    windowed.migrate();
    windowed.execute(
        "insert into coatcheck.lease_window (window_ms, longest_ms) values (20000, 20000)");
    assertRefused(
        onDatabase("windowed"),
        "COATCHECK_LEASE_WINDOW_SECONDS is 3, and the leases of this database have a window of"
            + " 20000 ms");
  }

  @Test
  void databaseThatMayLoseWhatItAcknowledged() {
    execute("create database forgetful", "alter database forgetful set synchronous_commit = off");
    assertRefused(onDatabase("forgetful"), "The database can't be used: synchronous_commit is off");
  }

  /** The library's own server is made for tests, and runs without fsync. */
  @Test
  void serverWithoutFsync(@TempDir Path folder) throws Exception {
    try (EmbeddedPostgres hasty =
        EmbeddedPostgres.builder()
            .setDataDirectory(folder)
            .setLocaleConfig("locale", "C")
            .setRegisterShutdownHook(false)
            .start()) {
      assertRefused(
          on("jdbc:postgresql://127.0.0.1:" + hasty.getPort() + "/postgres", "postgres", "any"),
          "fsync is off, so the database may lose committed data; turn it on");
    }
  }

  @Test
  void configurationWithSeveralFaults() {
    Terminal ended =
        Terminal.run(
            "serve",
            "--port=tcp://10.0.0.1:8080",
            "--database-url=jdbc:postgresql://db/coatcheck?password=hunter2");
    assertThat(ended.status()).isEqualTo(2);
    assertThat(ended.out()).isEmpty();
    assertThat(ended.err().lines())
        .satisfiesExactly(
            line -> assertThat(line).isEqualTo("coatcheck serve: the configuration has 3 faults:"),
            line -> assertThat(line).startsWith("  - COATCHECK_PORT (--port) "),
            line ->
                assertThat(line)
                    .startsWith(
                        "  - COATCHECK_DATABASE_URL (--database-url) contains a password, and the"
                            + " URL is printed")
                    .doesNotContain("hunter2"),
            line -> assertThat(line).startsWith("  - COATCHECK_DATABASE_USER "));
  }

  @Test
  void flagThatDoesNotExist() {
    Terminal ended = Terminal.run("serve", "--prot=8080");
    assertThat(ended.status()).isEqualTo(2);
    assertThat(ended.err()).startsWith("coatcheck serve: Unknown option: '--prot=8080'");
  }

  private static String url(String name) {
    return database.jdbcUrl().replaceFirst("coatcheck$", name);
  }

  private static List<String> onDatabase(String name) {
    return on(url(name), database.user(), database.password());
  }

  private static List<String> on(String url, String user, String password) {
    return new ArrayList<>(new TestDatabase(url, user, password).flags());
  }

  private static List<String> serve(String port, List<String> flags) {
    List<String> arguments = new ArrayList<>(List.of("serve", port));
    arguments.addAll(flags);
    return arguments;
  }

  private static void assertRefused(List<String> flags, String... reasons) {
    Terminal ended = Terminal.run(serve("--port=0", flags).toArray(String[]::new));
    assertThat(ended.err().lines())
        .singleElement()
        .asString()
        .startsWith("coatcheck serve: ")
        .contains(reasons)
        .doesNotContain("secret", "not-the-password");
    assertThat(ended.out()).isEmpty();
    assertThat(ended.status()).isEqualTo(1);
  }

  private static void execute(String... statements) {
    TestSql.on(database).execute(statements);
  }
}
