package dev.coatcheck.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.Gateway;
import dev.coatcheck.app.boot.Setting;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.postgres.embedded.TestHome;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

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
        .isEqualTo(new Terminal(0, "revoked " + keyId + "\n", ""));
    assertThat(on(database, "list").out()).contains(keyId + ",revoked,");
    assertThat(on(database, "revoke", keyId))
        .isEqualTo(
            new Terminal(
                1,
                "",
                "coatcheck access revoke: no active key has this ID; coatcheck access list shows"
                    + " the keys.\n"));
  }

  @Test
  void misuseIsSaid() {
    TestDatabase database = TestDatabase.fresh();

    assertThat(create(database, "--name", " ", "--scope", "*").err()).contains("1 to 100");
    Terminal unknown = create(database, "--name", "a", "--scope", "ids:read,ids:raed");
    assertThat(unknown.status()).isEqualTo(2);
    assertThat(unknown.err())
        .contains("no scope has the name ids:raed", "*, ids:read, ids:write, types:read");
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
  void aKeyMadeBeforeTheFirstStartWorksAndOneMadeBesideARunningGatewayWorksAtOnce()
      throws StartFailed {
    try (TestHome home = TestHome.fresh()) {
      String before = createOn(home);
      try (Gateway gateway = gateway(home)) {
        for (String key : List.of(before, createOn(home))) {
          assertThat(new TestClient(URI.create(gateway.url()), key).get("/v1/types").status())
              .isEqualTo(200);
        }
      }
    }
  }

  private static Gateway gateway(TestHome home) throws StartFailed {
    Map<Setting, String> flags = Map.of(Setting.HOME, home.toString(), Setting.PORT, "0");
    return switch (Config.read(Map.of(), flags)) {
      case Config.Parsed.Valid(Config config) -> Gateway.start(config);
      case Config.Parsed.Invalid invalid -> throw new AssertionError(invalid.faults());
    };
  }

  private static String createOn(TestHome home) {
    Terminal made = Terminal.run("access", "create", "--home=" + home, "--name=x", "--scope=*");
    assertThat(made.status()).as(made.err()).isZero();
    return made.out().strip();
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
