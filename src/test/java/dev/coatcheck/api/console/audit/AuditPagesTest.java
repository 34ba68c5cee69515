package dev.coatcheck.api.console.audit;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.console.ConsoleClient;
import dev.coatcheck.api.console.ConsoleClient.Page;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.api.routes.TransferSocket;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who changed what, in the console. */
class AuditPagesTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static final String CANARY = "<script>alert(1)</script>\"'><img src=x>";

  private static TestClient client;
  private static ConsoleClient browser;

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
    client.put(TestType.of("order", "ord"));
    browser = ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.AUDIT_READ));
  }

  private static String revoked() {
    String id = client.mint("order").text("/id");
    client.post("/v1/ids/" + id + "/revoke", json("reason", "lost"));
    return id;
  }

  @Test
  void anEntrySaysWhoDidWhatWhenAndFromWhere() {
    String id = client.mint("order").text("/id");
    String request =
        client.post("/v1/ids/" + id + "/revoke", json("reason", "lost")).header("request-id");

    assertThat(browser.get("/console/audit?subject=" + id).html())
        .contains(
            "<code>id.revoke</code>",
            "<code>" + id + "</code>",
            "<code>key_" + GATEWAY.key().substring(9, 21) + "</code>",
            "<code>127.0.0.1</code>",
            "<code>" + request + "</code>",
            "<time datetime=")
        .doesNotContain("<code>type.put</code>");
  }

  @Test
  void filtersAreThoseOfTheApi() {
    String id = revoked();

    assertThat(browser.get("/console/audit?action=type.put&subject=&actor=").html())
        .contains("<code>type.put</code>", "--action type.put")
        .doesNotContain("<code>id.revoke</code>");
    assertThat(browser.get("/console/audit?from=2999-01-01T00:00:00Z").html())
        .contains("No entry fits these filters");
    assertThat(browser.get("/console/audit?subject=" + id + "&to=2999-01-01T00:00:00Z").html())
        .contains("<code>id.revoke</code>");
    Map<String, String> odd =
        Map.of(
            "from=yesterday",
            "From",
            "action=put",
            "Action",
            "actor=%01",
            "Actor",
            "after=x",
            "After",
            "subject=%0A1",
            "Subject");
    odd.forEach(
        (query, label) -> {
          Page refused = browser.get("/console/audit?" + query);
          assertThat(refused.status()).as(query).isEqualTo(400);
          assertThat(refused.html())
              .contains("role=\"alert\">" + label + ": ", "class=\"fault\"", "Filter</button>");
        });
    assertThat(browser.get("/console/audit?from=yesterday").html()).contains("value=\"yesterday\"");
    assertThat(browser.get("/console/audit?before=1").status()).isEqualTo(400);
  }

  @Test
  void olderEntriesFollow() {
    List<String> ids = IntStream.range(0, 51).mapToObj(_ -> revoked()).toList();

    Page first = browser.get("/console/audit?action=id.revoke");
    String next =
        first.links().stream().filter(link -> link.contains("after=")).findFirst().orElseThrow();
    Page second = browser.get(next.replace("&amp;", "&"));

    assertThat(next).contains("action=id.revoke");
    assertThat(first.html()).contains(ids.getLast()).doesNotContain(ids.getFirst());
    assertThat(second.html())
        .contains("<code>id.revoke</code>", ids.getFirst())
        .doesNotContain("type.put</code>", ids.getLast());
    assertThat(first.html().split("<code>id.revoke</code>", -1)).hasSize(51);
  }

  @Test
  void theDownloadIsTheExportOfTheApi() {
    IntStream.range(0, 3).forEach(_ -> revoked());

    Page download = browser.get("/console/audit/export?action=id.revoke&from=");

    assertThat(download.header("content-type").orElseThrow()).startsWith("application/x-ndjson");
    assertThat(download.header("content-disposition"))
        .contains("attachment; filename=\"audit.ndjson\"");
    assertThat(download.html())
        .isNotEmpty()
        .isEqualTo(client.get("/v1/audit/export?action=id.revoke").body().stringValue());
  }

  @Test
  void itIsForThoseWhoMayReadAllOfIt() {
    ConsoleClient ofSomeTypes =
        ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.ALL, "order"));
    ConsoleClient reader = ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.IDS_READ));

    for (ConsoleClient other : List.of(ofSomeTypes, reader)) {
      assertThat(other.get("/console").links()).doesNotContain("/console/audit");
      for (String path : List.of("/console/audit", "/console/audit/export")) {
        assertThat(other.get(path).status()).as(path).isEqualTo(403);
      }
    }
    Page stranger = new ConsoleClient(GATEWAY.uri()).get("/console/audit/export");
    assertThat(stranger.location()).startsWith("/console/sign-in");
  }

  @Test
  void whatCallersWroteIsText() {
    String secret =
        client
            .post(
                "/v1/access/keys",
                json("name", "canary", "principal", CANARY, "scopes", List.of("*")))
            .text("/secret");
    String id = client.mint("order").text("/id");
    new TestClient(GATEWAY.uri(), secret).post("/v1/ids/" + id + "/revoke", json("reason", CANARY));

    for (String query :
        List.of(
            "",
            "?actor=" + ConsoleClient.encoded(CANARY),
            "?subject=" + ConsoleClient.encoded(CANARY))) {
      assertThat(browser.get("/console/audit" + query).html())
          .contains("&lt;script&gt;alert(1)")
          .doesNotContainIgnoringCase("<script>", "<img src=x");
    }
  }

  /** Its reader takes nothing meanwhile, so that the gateway waits for it. */
  @Test
  void aDownloadEndsWithTheKeyAlsoWhileItsReaderIsWaitedFor() throws IOException {
    fill(400);
    String first = slowKey();
    String second = slowKey();
    String third = slowKey();
    ConsoleClient reader = ConsoleClient.signedIn(GATEWAY, first);
    try (TransferSocket slow =
        TransferSocket.get(
            GATEWAY, "/console/audit/export", "Cookie: __Host-coatcheck=" + reader.cookie())) {
      requireEnd(slow, first, second);
    }
    try (TransferSocket slow =
        TransferSocket.get(GATEWAY, "/v1/audit/export", "Authorization: Bearer " + second)) {
      requireEnd(slow, second, third);
    }
  }

  /** All of them are of one principal, which may export once at a time. */
  private static String slowKey() {
    String key = GATEWAY.keyWith(Scope.AUDIT_READ);
    GATEWAY.execute(
        "update coatcheck.api_key set principal = 'slow' where key_id = '%s'"
            .formatted(key.substring(9, 21)));
    return key;
  }

  /** Revokes the key, and requires that the download breaks off: the next one may begin. */
  private static void requireEnd(TransferSocket slow, String key, String next) throws IOException {
    assertThat(slow.read(12)).isEqualTo("HTTP/1.1 200");
    ConsoleClient waiting = ConsoleClient.signedIn(GATEWAY, next);
    long begunNano = System.nanoTime();
    GATEWAY.revokeKey(key);

    assertThat(waiting.get("/console/audit/export?action=no.entry").status()).isEqualTo(200);
    // A reader that is too slow is cut off after ten seconds.
    assertThat(Duration.ofNanos(System.nanoTime() - begunNano)).isLessThan(Duration.ofSeconds(6));
    assertThat(slow.isWholeAtTheEnd()).isFalse();
  }

  /** Entries of 100 KB each. */
  private static void fill(int entries) {
    GATEWAY.execute(
        """
        with head as (
          update coatcheck.change_head
             set audited = audited + %1$d, audited_at = greatest(audited_at, clock_timestamp())
          returning audited, audited_at)
        insert into coatcheck.audit_entry (number, at, actor, action, subjects, detail)
        select audited - %1$d + entry, audited_at, 'filler', 'filler.fill', '{filler}',
               jsonb_build_object('text', repeat('x', 100000))
          from head, generate_series(1, %1$d) entry\
        """
            .formatted(entries));
  }
}
