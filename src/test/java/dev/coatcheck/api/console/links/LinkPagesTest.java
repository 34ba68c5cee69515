package dev.coatcheck.api.console.links;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.console.ConsoleClient;
import dev.coatcheck.api.console.ConsoleClient.Page;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What URLs are answered, tried without asking for them. */
class LinkPagesTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  /** A public ID of an older system. */
  private static final String OLDER = "order-4711";

  private static TestClient client;
  private static ConsoleClient browser;
  private static String order;

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
    put(
        "order",
        "ord",
        Map.of(
            "deprecated_at", "2998-01-02T00:00:00Z",
            "sunset_at", "2999-01-06T07:08:09Z",
            "max_id", "9000"));
    put("parcel", "par", Map.of("sunset_at", "2021-02-03T04:05:06Z"));
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    put(
        "letter",
        "let",
        Map.of(
            "brownouts",
            List.of(
                Map.of(
                    "from", now.minusSeconds(3_600).toString(),
                    "to", now.plusSeconds(86_400).toString()))));
    order = client.mint("order", "key", "900001", "legacy_id", "4711").text("/id");
    client.send("PUT", "/v1/ids/" + order + "/aliases/public/" + OLDER, null);
    client.mint("parcel", "key", "900002", "legacy_id", "1");
    client.mint("letter", "key", "900003", "legacy_id", "2");
    browser = ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.IDS_READ));
  }

  private static void put(String type, String prefix, Map<String, Object> legacy) {
    client.put(
        TestType.of(type, prefix)
            .with("redirect", Map.of("template", "https://shop.example/" + type + "/{id}"))
            .with("legacy", legacy)
            .with("public_pattern", TestType.pattern(type + "-", "0123456789", 4, 4))
            .with("url_templates", List.of("/" + type + "s/{legacy:" + type + "}")));
  }

  private static Page tried(String url, String more) {
    return browser.get("/console/links?url=" + ConsoleClient.encoded(url) + more);
  }

  @Test
  void aPublicIdIsReplacedByItsKey() {
    Page page = tried("https://shop.example/orders/" + order + "?tab=1#top", "");

    assertThat(page.status()).as(page.html()).isEqualTo(200);
    assertThat(page.html())
        .contains(
            "<code>/orders/" + order + "?tab=1</code>",
            "<code>/orders/{legacy:order}</code>",
            "<dd>public ID</dd>",
            "<code>900001</code>",
            "<code>X-Resolved-URI</code>",
            "<code>/orders/900001?tab=1</code>",
            "nginx passes the request on");
  }

  @Test
  void aLegacyIdIsResolvedOrRedirectedAsTheProxyWants() {
    assertThat(tried("/orders/4711", "&legacy=resolve").html())
        .contains(
            "<dd>legacy ID of the type order</dd>",
            "<code>" + order + "</code>",
            "<code>/orders/900001</code>",
            "Its highest legacy ID is 9000.",
            "Deprecated from 2998-01-02 00:00:00 UTC.",
            "The sunset is at 2999-01-06 07:08:09 UTC");
    assertThat(tried("/orders/4711", "&legacy=redirect").html())
        .contains(
            "<b>308</b> to <code>/orders/" + order + "</code>",
            "<code>X-Coatcheck-Status</code>",
            "<code>Sun, 06 Jan 2999 07:08:09 GMT</code>");
  }

  @Test
  void sunsetsAndBrownoutsCount() {
    assertThat(tried("/parcels/1", "&legacy=redirect").html())
        .contains("The sunset has passed", "<b>410</b>, from nginx");
    assertThat(tried("/letters/2", "&legacy=redirect").html())
        .contains("A brownout is on", "<b>503</b>, from nginx", "<code>Retry-After</code>");
  }

  @Test
  void whatNginxIsToldIsWhatTheApiAnswers() {
    for (String uri :
        List.of("/orders/4711", "/orders/4712", "/parcels/1", "/orders/04711", "/x")) {
      TestClient.Reply asked =
          client
              .with("X-Original-URI", uri)
              .with("X-Coatcheck-Legacy", "redirect")
              .get("/v1/urls/auth-request");
      String html = tried(uri, "&legacy=redirect").html();
      assertThat(html).as(uri).contains("<dt>Status</dt><dd><b>" + asked.status() + "</b>");
      for (String header : List.of("X-Coatcheck-Status", "Location", "X-Resolved-URI", "Link")) {
        if (asked.headers().containsKey(header.toLowerCase(Locale.ROOT))) {
          assertThat(html).as(uri).contains("<code>" + header + "</code>");
        } else {
          assertThat(html).as(uri).doesNotContain("<dt><code>" + header + "</code>");
        }
      }
    }
  }

  @Test
  void aBareKeyIsRefusedWhereTheProxyRefusesIt() {
    assertThat(tried("/x/900001", "").html()).contains("passes the request on");
    assertThat(tried("/x/900001", "&bare_keys=refuse").html()).contains("<b>404</b>, from nginx");
  }

  @Test
  void linksOfTheGatewayAreTriedToo() {
    assertThat(tried("https://id.example/r/" + order, "").html())
        .contains(
            "As a link of this gateway",
            "gets <b>302</b> to <code>https://shop.example/order/" + order + "</code>");
    assertThat(tried("/legacy/order/4711", "").html())
        .contains("gets <b>308</b> to <code>https://shop.example/order/" + order + "</code>");
    assertThat(tried("/legacy/parcel/1", "").html()).contains("gets <b>410</b>");
    assertThat(tried("/r/nothing", "").html()).contains("gets <b>404</b>");
  }

  @Test
  void aTrialCountsNoHitAndIsNoScan() {
    long before = hits();
    for (int i = 0; i < 70; i++) {
      tried("/orders/4711", "&legacy=redirect");
      tried("/legacy/order/" + (4_711 + i), "");
    }

    // What was really asked for is counted, after everything before it.
    client.with("X-Forwarded-For", "203.0.113.77").get("/v1/legacy/order/4711");
    Awaitility.await().untilAsserted(() -> assertThat(hits()).isEqualTo(before + 1));
    assertThat(tried("/legacy/order/4711", "").html()).contains("gets <b>308</b>");
  }

  private static long hits() {
    return client.legacyHits("order");
  }

  @Test
  void thePageNeverLeadsAnywhereItself() {
    for (String url :
        List.of("https://evil.example/", "/orders/4711", "/r/" + order, "javascript:alert(1)")) {
      Page page = tried(url, "&legacy=redirect");
      assertThat(page.status()).as(url).isIn(200, 400);
      assertThat(page.header("location")).isEmpty();
      assertThat(page.html()).doesNotContain("http-equiv");
      assertThat(page.links())
          .allMatch(link -> link.startsWith("/console") || link.equals("#main"));
    }
  }

  @Test
  void whatIsOddIsExplained() {
    assertThat(tried("/a b", "").html()).contains("The URL has a space");
    assertThat(tried("/a/../b", "").status()).isEqualTo(400);
    assertThat(tried("/orders/04711", "").html()).contains("without a sign or leading zeros");
    assertThat(tried("/orders/99999", "").html()).contains("No public ID has it");
    String wrong = order.substring(0, order.length() - 1) + (order.endsWith("a") ? "b" : "a");
    assertThat(tried("/orders/" + wrong, "").html()).contains("malformed");
    assertThat(browser.get("/console/links").html()).contains("Try an old or a new URL");
  }

  @Test
  void endedIdsSaySo() {
    String gone = client.mint("order").text("/id");
    client.post("/v1/ids/" + gone + "/revoke", "{}");
    assertThat(tried("/orders/" + gone, "").html())
        .contains("was revoked at", "<b>410</b>, from nginx");
  }

  @Test
  void whatCallersWroteIsText() {
    for (String url : List.of("/x/<script>alert(1)</script>", "/x?y=%3Cscript%3E<script>")) {
      assertThat(tried(url, "").html()).contains("&lt;script").doesNotContain("<script>");
    }
  }

  @Test
  void aKeyForSomeTypesIsToldNothingOfOthers() {
    ConsoleClient limited =
        ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.IDS_READ, "parcel"));

    Page page = limited.get("/console/links?url=/orders/" + order);
    assertThat(page.status()).isEqualTo(400);
    assertThat(page.html()).contains("for some types only").doesNotContain("900001");
    for (String link : List.of("/legacy/order/4711", "/r/" + OLDER)) {
      assertThat(tried(link, "").html()).as(link).contains(order);
      assertThat(limited.get("/console/links?url=" + link).html())
          .as(link)
          .contains("gets <b>404</b>", "Links of all other types are tried as if")
          .doesNotContain(order, "shop.example", "900001");
    }
    assertThat(limited.get("/console/links?url=/legacy/parcel/1").html())
        .contains("gets <b>410</b>");
    ConsoleClient other = ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.TYPES_READ));
    assertThat(other.get("/console/links").status()).isEqualTo(403);
  }
}
