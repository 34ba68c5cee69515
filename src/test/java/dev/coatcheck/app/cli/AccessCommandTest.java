package dev.coatcheck.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.Gateway;
import dev.coatcheck.app.boot.Setting;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.cluster.lease.DatabaseProcess;
import dev.coatcheck.cluster.lease.FakeTime;
import dev.coatcheck.postgres.embedded.TestHome;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code coatcheck access} on a database of one's own, and beside a gateway that runs. */
class AccessCommandTest {
  @Test
  void keysAreMadeListedAndEnded() {
    TestDatabase database = TestDatabase.fresh();

    String key = create(database, "--name", "edge", "--scope", "ids:read,types:read").out().strip();
    assertThat(key).matches("ccg_live_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}");

    String keyId = key.substring("ccg_live_".length(), key.lastIndexOf('_'));
    assertThat(on(database, "list").out())
        .contains(keyId + ",active,", ",ids:read types:read,edge");
    assertThat(on(database, "list").out()).doesNotContain(key);

    assertThat(on(database, "revoke", keyId))
        .isEqualTo(new Terminal(0, "revoked key_" + keyId + "\n", ""));
    assertThat(on(database, "list").out()).contains(keyId + ",revoked,");
    assertThat(on(database, "revoke", "key_" + keyId).status()).isZero();
    for (String unknown : List.of("key_000000000000", "000000000000", "edge", "key_")) {
      assertThat(on(database, "revoke", unknown))
          .isEqualTo(
              new Terminal(
                  1,
                  "",
                  "coatcheck access revoke: no key has this ID; coatcheck access list shows the"
                      + " keys.\n"));
    }
  }

  @Test
  void whatIsClearedIsNotSetByTheSameCommand() {
    TestDatabase database = TestDatabase.fresh();
    create(database, "--name", "edge", "--scope", "ids:read");
    String id = on(database, "list").out().substring(0, 16);

    for (Map.Entry<String, String> both :
        Map.of(
                "types", "--type=order",
                "ranges", "--range=10.0.0.0/8",
                "limit", "--limit=10/60",
                "lease-max", "--lease-max=3",
                "expiry", "--valid-days=3")
            .entrySet()) {
      Terminal refused = on(database, "patch", id, "--clear=" + both.getKey(), both.getValue());
      assertThat(refused)
          .isEqualTo(
              new Terminal(
                  2,
                  "",
                  "coatcheck access patch: --clear %s and %s contradict each other. Send one of them.\n"
                      .formatted(both.getKey(), both.getValue().replaceFirst("=.*", ""))));
    }
  }

  @Test
  void misuseIsSaid() {
    TestDatabase database = TestDatabase.fresh();

    assertThat(create(database, "--name", " ", "--scope", "*").err()).contains("1 to 100");
    Terminal unknown = create(database, "--name", "a", "--scope", "ids:read,ids:raed");
    assertThat(unknown.status()).isEqualTo(2);
    assertThat(unknown.err())
        .contains("no scope has the name ids:raed", "*, ids:read, ids:write, ids:end, types:read");
    assertThat(create(database, "--name", "a", "--scope", "*", "--valid-days", "0").err())
        .contains("1 to 3650");
    assertThat(create(database, "--scope", "*").status()).isEqualTo(2);
    assertThat(create(database, "--name", " ", "--scope", "*").status()).isEqualTo(2);
    assertThat(Terminal.run("access", "list", "--database-connections=1").status()).isEqualTo(2);
    assertThat(Terminal.run("nonsense").status()).isEqualTo(2);
    assertThat(on(database, "list").out()).isEmpty();
  }

  @Test
  void twoLiveKeysOfOneNameAreTwoPrincipalsUnlessTheyShallBeOne() {
    TestDatabase database = TestDatabase.fresh();
    String[] shop = {"--name", "shop", "--scope", "ids:write"};

    assertThat(create(database, "--same-principal", "--name", "shop", "--scope", "*").err())
        .contains("no live key has this name");
    assertThat(create(database, shop).err()).doesNotContain("acts as");
    assertThat(create(database, "--same-principal", "--name", "shop", "--scope", "*").status())
        .isZero();
    assertThat(principals(database)).containsExactly("shop", "shop");

    assertThat(create(database, shop).err()).contains("principal of the new key is shop#");
    assertThat(principals(database))
        .hasSize(3)
        .startsWith("shop", "shop")
        .last()
        .asString()
        .startsWith("shop#");
    assertThat(create(database, "--same-principal", "--name", "shop", "--scope", "*").err())
        .contains("different principals");
  }

  @Test
  void aKeyIsShownPatchedAndRotated() {
    TestDatabase database = TestDatabase.fresh();
    String key =
        create(
                database,
                "--name=edge",
                "--scope=ids:read",
                "--range=10.0.0.0/8,2001:db8::/32",
                "--limit=1000/1",
                "--expires=2999-01-01T00:00:00Z")
            .out()
            .strip();
    String id = "key_" + key.substring(9, 21);

    assertThat(on(database, "show", id).out())
        .contains("principal,edge\n", "limit.requests,1000\n", "limit.seconds,1\n")
        .contains("ranges,10.0.0.0/8 2001:db8:0:0:0:0:0:0/32\n")
        .contains("expires_at,2999-01-01T00:00:00Z\n", "status,active\n");

    Terminal patched =
        on(database, "patch", id, "--name=proxy", "--clear=ranges,expiry", "--limit=10/60");
    assertThat(patched.out())
        .contains("name,proxy\n", "limit.requests,10\n", "principal,edge\n")
        .doesNotContain("ranges", "expires_at");

    Terminal rotated = on(database, "rotate", id, "--overlap-seconds=0");
    assertThat(rotated.out().strip()).matches("ccg_live_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}");
    assertThat(on(database, "show", id).out())
        .contains("status,expired\n", "successor,key_" + rotated.out().substring(9, 21) + "\n");
    assertThat(on(database, "rotate", id, "--overlap-seconds=0").err()).contains("rotated before");
    assertThat(on(database, "patch", id, "--name=x").err()).contains("for good");
    assertThat(on(database, "list", "--status=active").out().lines()).hasSize(1);
    assertThat(database.sql().texts("select action from coatcheck.audit_entry order by number"))
        .containsExactly("key.create", "key.patch", "key.rotate");
    assertThat(database.sql().texts("select distinct actor from coatcheck.audit_entry"))
        .containsExactly("operator");
  }

  @Test
  void flagsThatMeanNothingAreRefused() {
    TestDatabase database = TestDatabase.fresh();
    for (String wrong :
        List.of(
            "--range=10.1.2.3/8",
            "--range=example.org",
            "--limit=0/1",
            "--limit=1000001/1",
            "--limit=5",
            "--expires=tomorrow",
            "--valid-days=1,2",
            "--scope=")) {
      assertThat(create(database, "--name=a", "--scope=ids:read", wrong).status())
          .as(wrong)
          .isEqualTo(2);
    }
    assertThat(create(database, "--name=a", "--scope=*", "--type=none").err())
        .contains("no type has the name");
    assertThat(create(database, "--name=a", "--scope=*", "--expires=2020-01-01T00:00:00Z").err())
        .contains("has passed");
    assertThat(on(database, "rotate", "key_000000000000", "--overlap-seconds=2592001").status())
        .isEqualTo(2);
    assertThat(on(database, "list").out()).isEmpty();
  }

  @Test
  void aStoredScopeThatIsUnknownIsShownAsSuch() {
    TestDatabase database = TestDatabase.fresh();
    create(database, "--name", "older", "--scope", "ids:read");
    database.sql().execute("update coatcheck.api_key set scopes = '{ids:read,ids:old}'");

    assertThat(on(database, "list").out()).contains("ids:old (unknown) ids:read");
  }

  private static List<String> principals(TestDatabase database) {
    return database.sql().texts("select principal from coatcheck.api_key order by created_at");
  }

  @Test
  void aPasswordAsAFlagIsRefusedAndNotPrinted() {
    for (List<String> verb :
        List.of(List.of("access", "list"), List.of("serve"), List.of("health"))) {
      for (List<String> flag :
          List.of(
              List.of("--database-password=hunter2"), List.of("--database-password", "hunter2"))) {
        List<String> all = new ArrayList<>(verb);
        all.addAll(flag);

        Terminal refused = Terminal.run(all.toArray(String[]::new));

        assertThat(refused.status()).isEqualTo(2);
        assertThat(refused.err())
            .startsWith("coatcheck " + String.join(" ", verb) + ": --database-password is refused")
            .contains("COATCHECK_DATABASE_PASSWORD_FILE")
            .doesNotContain("hunter2");
        assertThat(refused.out()).isEmpty();
      }
      List<String> help = new ArrayList<>(verb);
      help.add("--help");
      assertThat(Terminal.run(help.toArray(String[]::new)).out())
          .contains("--database-password-file")
          .doesNotContain("--database-password=");
    }
  }

  @Test
  @Tag("faults")
  void aKeyMadeBeforeTheFirstStartWorksAndOneMadeBesideARunningGatewayWorksAtOnce()
      throws StartFailed {
    try (TestHome home = TestHome.fresh()) {
      String before = createOn(home, "There was no embedded database in " + home);
      try (Gateway gateway = gateway(home)) {
        for (String key : List.of(before, createOn(home, "shown only now"))) {
          assertThat(new TestClient(URI.create(gateway.url()), key).get("/v1/types").status())
              .isEqualTo(200);
        }
      }
    }
  }

  /** The end of a command and a signal may come together. */
  @Test
  @Tag("faults")
  void aGatewayThatTwoThreadsCloseIsClosedWhenEitherReturns() throws Exception {
    try (TestHome home = TestHome.fresh();
        ExecutorService threads = Executors.newFixedThreadPool(2)) {
      Gateway gateway = gateway(home);
      Callable<Boolean> close =
          () -> {
            gateway.close();
            return Files.notExists(home.path().resolve("data/postmaster.pid"));
          };

      for (Future<Boolean> isClosed : threads.invokeAll(List.of(close, close))) {
        assertThat(isClosed.get()).isTrue();
      }
    }
  }

  @Test
  void onlyTheFirstKeyMakesADatabaseWhereThereIsNone(@TempDir Path folder) {
    Path home = folder.resolve("elsewhere");
    for (String verb :
        List.of(
            "access list",
            "access show key_4KIWSf8WvPN0",
            "access patch key_4KIWSf8WvPN0 --name=x",
            "access rotate key_4KIWSf8WvPN0 --overlap-seconds=0",
            "access revoke key_4KIWSf8WvPN0",
            "audit prune --before=2026-01-01")) {
      Terminal refused = Terminal.run((verb + " --home=" + home).split(" ", -1));

      assertThat(refused.status()).as(verb).isEqualTo(1);
      assertThat(refused.err())
          .contains("There is no embedded database in " + home, "--home", "--database-url")
          .hasLineCount(1);
    }
    assertThat(home).doesNotExist();
  }

  private static Gateway gateway(TestHome home) throws StartFailed {
    Map<Setting, String> flags = Map.of(Setting.HOME, home.toString(), Setting.PORT, "0");
    return switch (Config.read(Map.of(), flags)) {
      case Config.Parsed.Valid(Config config) -> Gateway.start(config);
      case Config.Parsed.Invalid invalid -> throw new AssertionError(invalid.faults());
    };
  }

  private static String createOn(TestHome home, String note) {
    Terminal made = Terminal.run("access", "create", "--home=" + home, "--name=x", "--scope=*");
    assertThat(made.status()).as(made.err()).isZero();
    assertThat(made.err()).contains(note);
    return made.out().strip();
  }

  /** The clock of the machine where someone types may be wrong. */
  @Test
  @Tag("faults")
  void theDaysUntilAKeyExpiresCountByTheClockOfPostgres(@TempDir Path folder) throws Exception {
    Assumptions.assumeTrue(
        FakeTime.in(folder).isPresent(),
        "libfaketime is not installed; on Debian the package is faketime");
    FakeTime clock = FakeTime.in(folder).orElseThrow().jump(Duration.ofDays(-10).toMillis());
    try (DatabaseProcess postgres =
        DatabaseProcess.start(folder.resolve("postgres-home"), clock.environment())) {
      TestDatabase database = postgres.database();
      Terminal created = create(database, "--name", "a", "--scope", "*", "--valid-days", "2");
      assertThat(created.status()).as(created.err()).isZero();
      assertThat(daysLeft(database)).isEqualTo(2);

      String keyId = String.valueOf(database.sql().text("select key_id from coatcheck.api_key"));
      assertThat(on(database, "patch", keyId, "--valid-days", "3").status()).isZero();
      assertThat(daysLeft(database)).isEqualTo(3);
    }
  }

  private static long daysLeft(TestDatabase database) {
    return database
        .sql()
        .number(
            "select round(extract(epoch from expires_at - now()) / 86400) from coatcheck.api_key");
  }

  private static Terminal create(TestDatabase database, String... arguments) {
    List<String> all = new ArrayList<>(List.of("create"));
    Collections.addAll(all, arguments);
    return on(database, all.toArray(String[]::new));
  }

  private static Terminal on(TestDatabase database, String... arguments) {
    List<String> all = new ArrayList<>(List.of("access"));
    Collections.addAll(all, arguments);
    all.addAll(database.flags());
    return Terminal.run(all.toArray(String[]::new));
  }
}
