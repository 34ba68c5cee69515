package dev.coatcheck.api.console.find;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.console.ConsoleClient;
import dev.coatcheck.api.console.ConsoleClient.Page;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The first page says what any text is. */
class FindPageTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static final String CLIENT_ID = "0b0fdb0d-6d9a-4b57-9c76-4b1d6e4f2a10";
  private static final String OTHER_CLIENT_ID = "0b0fdb0d-6d9a-4b57-9c76-4b1d6e4f2a12";

  private static TestClient client;
  private static ConsoleClient browser;
  private static String order;

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
    client.put(
        TestType.of("order", "ord")
            .with("redirect", Map.of("template", "https://shop.example/o/{id}"))
            .with("legacy", Map.of()));
    client.put(TestType.of("parcel", "par"));
    order =
        client
            .mint("order", "key", "900001", "legacy_id", "4711", "client_id", CLIENT_ID)
            .text("/id");
    browser = ConsoleClient.signedIn(GATEWAY, GATEWAY.key());
  }

  private static Page find(String text) {
    Page page = browser.get("/console?q=" + ConsoleClient.encoded(text));
    assertThat(page.status()).as(page.html()).isEqualTo(200);
    return page;
  }

  @Test
  void aPublicIdIsFoundByAllItsNames() {
    for (Map.Entry<String, String> text :
        Map.of(order, "public ID", "900001", "key", "4711", "legacy ID", CLIENT_ID, "client ID")
            .entrySet()) {
      assertThat(find(text.getKey()).html())
          .contains(
              "<code>" + order + "</code>",
              "<dt>Found as</dt><dd>" + text.getValue() + "</dd>",
              "<dt>Type</dt><dd>order</dd>",
              "<code>900001</code>",
              "<code>4711</code>",
              "<code>" + CLIENT_ID + "</code>",
              ">active</b>");
    }
  }

  @Test
  void itsLinkIsWhatAStrangerGets() {
    assertThat(find(order).html())
        .contains(
            "gets <b>302</b> to <code>https://shop.example/o/" + order + "</code>",
            "<code>Location</code>",
            "<code>Cache-Control</code>",
            "coatcheck find " + order);
    String parcel = client.mint("parcel").text("/id");
    assertThat(find(parcel).html()).contains("gets <b>404</b>");
  }

  @Test
  void anIdThatBeginsWithAHyphenIsNoFlagInTheCommand() {
    client.put(
        TestType.of("photo", "pho")
            .with("public_pattern", TestType.pattern("", "-abcdef", 12, 12)));
    String id = client.mint("photo").text("/id");
    client.send("PUT", "/v1/ids/" + id + "/aliases/public/-abcdefabcde", null);

    assertThat(find("-abcdefabcde").html()).contains("<code>coatcheck find -- -abcdefabcde\n");
    assertThat(find(id).html()).contains("<code>coatcheck find " + id + "\n");
  }

  @Test
  void mergesAreDrawn() {
    String survivor = client.mint("order").text("/id");
    String first = client.mint("order").text("/id");
    String second = client.mint("order").text("/id");
    client.post("/v1/ids/" + first + "/merge", json("into", survivor));
    client.post("/v1/ids/" + second + "/merge", json("into", survivor));

    assertThat(find(survivor).html())
        .contains("2 public IDs were merged into " + survivor, "<svg", first, second);
    assertThat(find(first).html())
        .contains(">merged</b>", "/console?q=" + survivor, "<svg", "class=\"asked\"");
  }

  @Test
  void aRevokedPublicIdShowsItsReasonAndCanOnlyBeErased() {
    String id = client.mint("order").text("/id");
    client.post("/v1/ids/" + id + "/revoke", json("reason", "fraud"));

    Page page = find(id);
    assertThat(page.html()).contains(">revoked</b>", "<dd>fraud</dd>", "gets <b>410</b>");
    assertThat(page.links())
        .filteredOn(link -> link.startsWith("/console/ids/"))
        .containsExactly("/console/ids/" + id + "/erase");
  }

  @Test
  void anAliasOfAnErasedPublicIdSaysSo() {
    client.put(
        TestType.of("scan", "scan").with("public_pattern", TestType.pattern("p-", "abc", 4, 4)));
    String gone = client.mint("order", "legacy_id", "4799").text("/id");
    String scan = client.mint("scan").text("/id");
    client.send("PUT", "/v1/ids/" + scan + "/aliases/public/p-abca", null);
    for (String id : List.of(gone, scan)) {
      client.send("POST", "/v1/ids/" + id + "/erase", null);
    }

    assertThat(find("4799").html())
        .contains("<b>order</b> that had this as its legacy ID was erased")
        .doesNotContain("Not one of your public IDs");
    assertThat(find("p-abca").html())
        .contains("<b>scan</b> that had this as its older public ID was erased");
    assertThat(find(gone).html()).contains("/console/ids/" + gone + "/erasure");
  }

  @Test
  void theIdOfAnApiKeyLeadsToItsPageForWhoMaySeeIt() {
    String id = "key_" + GATEWAY.key().substring(9, 21);
    ConsoleClient reader = ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.IDS_READ));

    assertThat(find(id).links()).contains("/console/keys/" + id);
    assertThat(reader.get("/console?q=" + id).links()).doesNotContain("/console/keys/" + id);
    assertThat(find(order).html()).as("in the audit").contains("<code>" + id + "</code>");
  }

  @Test
  void whatIsLeftOutOfManyFindingsIsCounted() {
    for (int i = 0; i < 22; i++) {
      client.put(TestType.of("many" + i, "many" + i));
      client.mint("many" + i, "legacy_id", "77123");
    }

    assertThat(find("77123").html()).contains("It stands for 2 more public IDs");
    assertThat(find(order).html()).doesNotContain("It stands for");
  }

  @Test
  void textsThatAreNotOursShowTheirFormats() {
    assertThat(find("01ARZ3NDEKTSV4RRFFQ69G5FAV").html())
        .contains("Not one of your public IDs", "<code>ulid</code>", "2016-07-30");
    assertThat(find("ord_00000000000000000000002B").html()).doesNotContain("Add an alias");
    assertThat(find("hello, world").html()).contains("matches no known format");
    assertThat(browser.get("/console?q=" + "x".repeat(256)).status()).isEqualTo(400);
    assertThat(browser.get("/console?q=a&q=b").status()).isEqualTo(400);
    assertThat(browser.get("/console?other=1").status()).isEqualTo(400);
  }

  @Test
  void everyTextOfACallerComesBackAsText() {
    String canary = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>&amp;${77*77777}";
    String id =
        client
            .mint("order", "client_id", OTHER_CLIENT_ID, "client_namespace", "<img/src=x>\"'>")
            .text("/id");
    client.post("/v1/ids/" + id + "/revoke", json("reason", canary));
    String principal = GATEWAY.keyWith(Scope.ALL);
    GATEWAY.execute(
        "update coatcheck.api_key set principal = $x$%s$x$ where key_id = '%s'"
            .formatted(canary, principal.substring(9, 21)));

    for (Page page :
        List.of(
            find(id),
            find(canary),
            ConsoleClient.signedIn(GATEWAY, principal).get("/console"),
            new ConsoleClient(GATEWAY.uri())
                .get("/console/sign-in?next=" + ConsoleClient.encoded(canary)),
            browser.get("/console/ids/" + ConsoleClient.encoded("a<b>'\"") + "/revoke"))) {
      assertThat(page.html())
          .doesNotContainIgnoringCase("<script>", "<img src=x", "<img/src", "\"'>", "<b>'")
          .doesNotContain("5988829");
    }
    assertThat(find(id).html())
        .contains("&lt;script&gt;alert(1)&lt;/script&gt;", "&lt;img/src=x&gt;");
  }

  @Test
  void aKeySeesTheTypesThatItMayUseOnly() {
    String key = GATEWAY.keyWith(Scope.IDS_READ, "parcel");
    ConsoleClient limited = ConsoleClient.signedIn(GATEWAY, key);
    String layout = "42/9/12@1577836800000";
    client.put("/v1/types/hidden", json("prefix", "hid", "key", "bigint", "layout", layout));

    assertThat(limited.get("/console").status()).isEqualTo(200);
    String number = client.mint("hidden").text("/key");
    assertThat(browser.get("/console?q=" + number).html()).contains(layout);
    assertThat(limited.get("/console?q=" + number).html()).doesNotContain(layout);
    for (String text : List.of(order, "900001", "4711", CLIENT_ID)) {
      assertThat(limited.get("/console?q=" + text).html())
          .contains("Not one of your public IDs")
          .doesNotContain("shop.example", "<h3>Audit</h3>");
    }
  }

  @Test
  void aKeyWithoutTheScopeFindsNothing() {
    ConsoleClient limited = ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.METRICS_READ));

    assertThat(limited.get("/console").location()).isEqualTo("/console/overview");
    Page refused = limited.get("/console?q=" + order);
    assertThat(refused.status()).isEqualTo(403);
    assertThat(refused.html()).contains("lacks the scope ids:read").doesNotContain("900001");

    ConsoleClient minter = ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.IDS_WRITE));
    Page nothing = minter.get("/console");
    assertThat(nothing.status()).isEqualTo(403);
    assertThat(nothing.html()).contains("Sign out").doesNotContain("To the first page");
  }
}
