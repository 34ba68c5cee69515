package dev.coatcheck.api.console.find;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.api.console.ConsoleClient;
import dev.coatcheck.api.console.ConsoleClient.Page;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestSession;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What people do to public IDs in the console. */
class ChangePagesTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static TestClient client;
  private static final Duration LONGER_THAN_AN_ANSWER = Duration.ofSeconds(1);

  private static ConsoleClient browser;
  private String id = "";

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
    client.put(TestType.of("order", "ord").with("legacy", Map.of()));
    client.put(TestType.of("parcel", "par"));
    browser = ConsoleClient.signedIn(GATEWAY, GATEWAY.key());
  }

  @BeforeEach
  void mint() {
    id = client.mint("order").text("/id");
  }

  private String path(String change) {
    return "/console/ids/" + id + "/" + change;
  }

  @Test
  void aRevocationIsConfirmedAndDone() {
    assertThat(browser.get("/console?q=" + id).links())
        .contains(path("revoke"), path("merge"), path("aliases"));
    assertThat(browser.get(path("revoke")).html())
        .contains("Revoke this public ID?", "Revoke " + id);
    assertThat(client.get("/v1/ids/" + id).status()).isEqualTo(200);

    Page done = browser.submit(path("revoke"), Map.of("reason", " leaked "));

    assertThat(done.status()).isEqualTo(303);
    assertThat(done.location()).isEqualTo("/console?q=" + id);
    assertThat(client.get("/v1/ids/" + id).text("/ended_reason")).isEqualTo("leaked");
    assertThat(browser.get(path("revoke")).status()).isEqualTo(409);
    assertThat(browser.get("/console?q=" + id).html())
        .contains(
            "<code>id.revoke</code>",
            "<code>key_" + GATEWAY.key().substring(9, 21) + "</code>",
            "<code>127.0.0.1</code>");
  }

  @Test
  void aReasonHasALimit() {
    Page refused = browser.submit(path("revoke"), Map.of("reason", "x".repeat(501)));

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.html()).contains("at most 500 characters", "Revoke this public ID?");
    assertThat(client.get("/v1/ids/" + id).status()).isEqualTo(200);
  }

  @Test
  void aMergeIsDoneOrSaysWhyNot() {
    String survivor = client.mint("order").text("/id");
    String parcel = client.mint("parcel").text("/id");

    assertThat(browser.submit(path("merge"), Map.of("into", parcel)).html())
        .contains("must have the same type", "value=\"" + parcel + "\"");
    assertThat(browser.submit(path("merge"), Map.of("into", id)).status()).isEqualTo(409);
    assertThat(browser.submit(path("merge"), Map.of("into", "<b>")).status()).isEqualTo(400);
    assertThat(browser.submit(path("merge"), Map.of("into", survivor)).status()).isEqualTo(303);
    assertThat(client.get("/v1/ids/" + id).text("/merged_into")).isEqualTo(survivor);
  }

  @Test
  void anAliasIsAddedOrSaysWhyNot() {
    String other = client.mint("order", "legacy_id", "815").text("/id");
    String uuid = "0b0fdb0d-6d9a-4b57-9c76-4b1d6e4f2a11";

    assertThat(alias("legacy", "815").html()).contains("Another public ID already has this alias");
    assertThat(alias("legacy", "x").status()).isEqualTo(400);
    assertThat(alias("public", "x").status()).isEqualTo(400);
    assertThat(alias("client", "x").status()).isEqualTo(400);
    assertThat(alias("other", "816").status()).isEqualTo(400);
    assertThat(alias("legacy", "816").status()).isEqualTo(303);
    assertThat(alias("legacy", "816").status()).isEqualTo(303);
    assertThat(
            browser
                .submit(
                    path("aliases"),
                    Map.of("scheme", "client", "value", uuid, "namespace", "phone-7"))
                .status())
        .isEqualTo(303);
    assertThat(browser.get("/console?q=816").html()).contains(id, "phone-7").doesNotContain(other);
  }

  /** A bug of ours, which may be behind the commit. */
  @Test
  void aFormThatFailsSaysThatTheChangeMayHaveBeenMade() {
    GATEWAY.execute(
        """
        create function public.planted() returns trigger language plpgsql
          as $$ begin raise exception 'planted'; end $$;
        create trigger planted before insert on coatcheck.alias
          for each row execute function public.planted()
        """);
    try {
      Page failed = alias("legacy", "817");

      assertThat(failed.status()).isEqualTo(500);
      assertThat(failed.html())
          .contains("may have been made or not", "Load the page again and look")
          .doesNotContain("Send the request again");
    } finally {
      GATEWAY.execute("drop function public.planted cascade");
    }
  }

  /** A program of a person's reads it, such as one that fills in forms. */
  @Test
  void anOutageSaysWhenToComeAgain() throws Exception {
    String token = browser.get(path("revoke")).formToken();
    try (TestSession other = GATEWAY.sql().session()) {
      other.begin("lock table coatcheck.console_session in access exclusive mode");
      Page refused = browser.postOnce(path("revoke"), Map.of("form_token", token));

      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.header("retry-after").orElse("")).matches("[123]");
      other.rollback();
    }
  }

  private Page alias(String scheme, String value) {
    return browser.submit(path("aliases"), Map.of("scheme", scheme, "value", value));
  }

  @Test
  void aKeyWithoutTheScopeChangesNothingByHandEither() {
    ConsoleClient reader = ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.IDS_READ));
    Page page = reader.get("/console?q=" + id);
    assertThat(page.html()).contains(id).doesNotContain("/console/ids/");

    for (Map.Entry<String, Map<String, String>> change :
        Map.of(
                "revoke", Map.of("reason", "x"),
                "merge", Map.of("into", client.mint("order").text("/id")),
                "aliases", Map.of("scheme", "legacy", "value", "999"))
            .entrySet()) {
      assertThat(reader.get(path(change.getKey())).status()).isEqualTo(403);
      Map<String, String> fields = new TreeMap<>(change.getValue());
      fields.put("form_token", page.formToken());
      Page refused = reader.post(path(change.getKey()), fields);
      assertThat(refused.status()).isEqualTo(403);
      assertThat(refused.html()).contains("lacks the scope");
    }
    assertThat(client.get("/v1/ids/" + id + "?expand=aliases").text("/status")).isEqualTo("active");
    assertThat(GATEWAY.count("select count(*) from coatcheck.alias where value = '999'")).isZero();
  }

  @Test
  void whoMayNotReadKeysIsShownNoneAndIsToldOfNoRefusalAfterAChange() {
    String key = client.get("/v1/ids/" + id).text("/key");
    ConsoleClient ending = ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.IDS_END));

    assertThat(browser.get(path("revoke")).html()).contains(key);
    assertThat(ending.get(path("revoke")).html()).contains(id).doesNotContain(key);
    Page done = ending.submit(path("revoke"), Map.of("reason", "x"));
    assertThat(done.status()).isEqualTo(303);
    assertThat(ending.get(done.location()).html())
        .contains("lacks the scope")
        .doesNotContain("Nothing was done");
  }

  /** A line may be slow, or somebody's who waits. */
  @Test
  void aFormWhoseKeyWasRevokedWhileItCameChangesNothing() throws Exception {
    String key = GATEWAY.keyWith(Scope.IDS_END);
    ConsoleClient person = ConsoleClient.signedIn(GATEWAY, key);
    String form = "reason=x&form_token=" + person.get(path("revoke")).formToken();
    String head =
        "POST %s HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\nCookie: __Host-coatcheck=%s\r\n"
                .formatted(
                    path("revoke"), GATEWAY.uri().getAuthority(), GATEWAY.uri(), person.cookie())
            + "Content-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n"
            + "Content-Length: %d\r\n\r\n".formatted(form.length());
    try (Socket socket = new Socket(GATEWAY.uri().getHost(), GATEWAY.uri().getPort())) {
      socket.getOutputStream().write((head + "reason=x").getBytes(StandardCharsets.US_ASCII));
      socket.getOutputStream().flush();
      assertThat(person.get(path("revoke")).status()).isEqualTo(200);
      GATEWAY.revokeKey(key);
      await()
          .pollDelay(LONGER_THAN_AN_ANSWER)
          .until(() -> person.get(path("revoke")).status() == 303);

      socket
          .getOutputStream()
          .write(form.substring("reason=x".length()).getBytes(StandardCharsets.US_ASCII));
      String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);

      assertThat(answer).startsWith("HTTP/1.1 303").contains("/console/sign-in");
    }
    assertThat(client.get("/v1/ids/" + id).status()).isEqualTo(200);
  }

  @Test
  void forgedFormsChangeNothing() {
    Map<String, String> form = Map.of("form_token", browser.get(path("revoke")).formToken());
    ConsoleClient elsewhere = new ConsoleClient(GATEWAY.uri());
    elsewhere.setCookie(browser.cookie());
    elsewhere.with("Origin", "https://evil.example");

    for (Page refused :
        List.of(
            new ConsoleClient(GATEWAY.uri()).post(path("revoke"), form),
            elsewhere.post(path("revoke"), form),
            browser.post(path("revoke"), Map.of("form_token", "x")),
            browser.post(path("revoke"), Map.of()))) {
      assertThat(refused.status()).isIn(303, 403);
    }
    assertThat(client.get("/v1/ids/" + id).status()).isEqualTo(200);
  }

  @Test
  void aKeyChangesPublicIdsOfItsTypesOnly() {
    ConsoleClient limited = ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.ALL, "parcel"));
    String token = limited.get("/console").formToken();

    assertThat(limited.get(path("revoke")).status()).isEqualTo(403);
    assertThat(limited.post(path("revoke"), Map.of("form_token", token)).status()).isEqualTo(403);
    assertThat(client.get("/v1/ids/" + id).status()).isEqualTo(200);
  }
}
