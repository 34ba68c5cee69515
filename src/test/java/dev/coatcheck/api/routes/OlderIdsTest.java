package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.assertPut;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.redirect.ScanGuard;
import dev.coatcheck.ids.registry.TestType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.hashids.Hashids;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sqids.Sqids;

/**
 * Links of older systems, made by the public libraries, lead on by the rules of their types: only
 * the exact text, which has one meaning. Each visitor comes from an address of its own, so that
 * none is taken for a scan.
 */
class OlderIdsTest {
  private static final String SALT = "this is my salt";
  private static final Hashids HASHIDS = new Hashids(SALT, 8);
  private static final String SQIDS_ALPHABET =
      "k3G7QAe51FCsPW92uEOyq4Bg6Sp8YzVTmnU0liwDdHXLajZrfxNhobJIRcMvKt";
  private static final Sqids SQIDS = Sqids.builder().alphabet(SQIDS_ALPHABET).minLength(30).build();
  private static final String KEY = "01890a5d-ac96-774b-bcce-b302099a8057";
  private static final String TYPEID = "user_01h455vb4pex5vsknk084sn02q";
  private static final AtomicInteger VISITORS = new AtomicInteger();

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static TestClient client;

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
    put(
        "invoice",
        Map.of("scheme", "hashids", "salt", SALT, "min_length", 8, "text_prefix", "inv-"),
        Map.of("sunset_at", "2999-01-06T07:08:09Z", "max_id", "1000000"));
    put(
        "order",
        Map.of("scheme", "sqids", "alphabet", SQIDS_ALPHABET, "min_length", 30),
        Map.of("status", 301));
    put("gone", hashids("gone-"), Map.of("sunset_at", "2021-02-03T04:05:06Z"));
    put("closed", hashids("closed-"), Map.of("public", false));
    client.put(TestType.of("linkless", "linkless").with("public_rule", hashids("linkless-")));
    client.put(
        TestType.of("hidden", "hidden")
            .with("redirect", Map.of("template", "https://shop.example/{id}", "public", false))
            .with("legacy", Map.of())
            .with("public_rule", hashids("hidden-")));
    client.put(
        TestType.of("album", "album")
            .with("redirect", Map.of("template", "https://shop.example/{id}", "public", false))
            .with("public_pattern", TestType.pattern("album-", "0123456789", 1, 20)));
    client.put(
        TestType.of("user", "usr")
            .uuids()
            .redirect("https://shop.example/u/{id}")
            .with("legacy", Map.of())
            .with("public_rule", Map.of("scheme", "typeid", "prefix", "user"))
            .with("url_templates", List.of("/users/{legacy:user}")));
    client.put(
        TestType.of("device", "dev")
            .uuids()
            .redirect("https://shop.example/d/{id}")
            .with("legacy", Map.of())
            .with("public_rule", Map.of("scheme", "uuid"))
            .with("url_templates", List.of("/devices/{legacy:device}")));
    client.mint("user", "key", KEY);
    client.mint("device", "key", KEY);
    for (String type : List.of("invoice", "order", "gone", "closed", "linkless", "hidden")) {
      client.mint(type, "key", "42", "legacy_id", "7");
    }
  }

  private static Map<String, Object> hashids(String textPrefix) {
    return Map.of("scheme", "hashids", "salt", SALT, "min_length", 8, "text_prefix", textPrefix);
  }

  private static void put(String type, Map<String, Object> rule, Map<String, Object> legacy) {
    Reply put =
        client.put(
            TestType.of(type, type)
                .redirect("https://shop.example/" + type + "/{id}")
                .with("legacy", legacy)
                .with("public_rule", rule)
                .with("url_templates", List.of("/" + type + "s/{legacy:" + type + "}")));
    assertPut(put);
  }

  private static TestClient visitor() {
    int n = VISITORS.incrementAndGet();
    return client.anonymous().with("X-Forwarded-For", "192.0." + n / 250 + "." + (n % 250 + 1));
  }

  static List<List<String>> links() {
    return List.of(
        List.of("invoice", "inv-" + HASHIDS.encode(7), "42"),
        List.of("order", SQIDS.encode(List.of(7L)), "42"),
        List.of("user", TYPEID, KEY),
        List.of("device", KEY, KEY));
  }

  @ParameterizedTest
  @MethodSource("links")
  void anOlderPublicIdIsResolvedWithoutARow(List<String> link) {
    Reply found = client.get("/v1/ids/" + link.get(1));

    assertThat(found.status()).isEqualTo(200);
    assertThat(found.text("/type")).isEqualTo(link.getFirst());
    assertThat(found.text("/key")).isEqualTo(link.get(2));
    assertThat(GATEWAY.count("select count(*) from coatcheck.alias where scheme = 'public'"))
        .isZero();
  }

  @ParameterizedTest
  @MethodSource("links")
  void anOlderLinkLeadsOn(List<String> link) {
    String id = client.get("/v1/ids/" + link.get(1)).text("/id");

    Reply followed = visitor().get("/r/" + link.get(1));
    Reply named = visitor().get("/legacy/" + link.getFirst() + "/" + link.get(1));

    assertThat(followed.header("Location")).startsWith("https://shop.example/").endsWith(id);
    assertThat(followed.status()).isEqualTo(link.getFirst().equals("order") ? 301 : 308);
    assertThat(followed.header("Link")).contains(id);
    assertThat(named.status()).isEqualTo(followed.status());
    assertThat(named.header("Location")).isEqualTo(followed.header("Location"));
    assertThat(visitor().head("/r/" + link.get(1)).header("Location"))
        .isEqualTo(followed.header("Location"));
  }

  @ParameterizedTest
  @MethodSource("links")
  void inUrlsItStandsForItsKey(List<String> link) {
    String path = "/" + link.getFirst() + "s/";
    String id = client.get("/v1/ids/" + link.get(1)).text("/id");

    Reply resolved = client.resolveUrl(path + link.get(1) + "?a=1");

    assertThat(resolved.text("/resolved")).isEqualTo(path + link.get(2) + "?a=1");
    assertThat(resolved.text("/public_url")).isEqualTo(path + id + "?a=1");
    assertThat(resolved.text("/ids/0/id")).isEqualTo(id);
    assertThat(resolved.body().at("/ids/0").has("legacy_id")).isEqualTo(link.get(2).equals("42"));
    Reply nginx =
        client
            .with("X-Original-URI", path + link.get(1))
            .with("X-Coatcheck-Legacy", "redirect")
            .get("/v1/urls/auth-request");
    assertThat(nginx.header("Location")).isEqualTo(path + id);
    Reply passed = client.with("X-Original-URI", path + link.get(1)).get("/v1/urls/auth-request");
    assertThat(passed.header("X-Resolved-URI")).isEqualTo(path + link.get(2));
  }

  /** A fixed text in front makes it known in any path; without one a template says where it is. */
  @Test
  void withItsTextPrefixItIsKnownInAnyUrl() {
    String invoice = "inv-" + HASHIDS.encode(7);
    String order = SQIDS.encode(List.of(7L));

    assertThat(client.resolveUrl("/x/" + invoice + "/y?z=" + invoice).text("/resolved"))
        .isEqualTo("/x/42/y?z=42");
    assertThat(client.resolveUrl("/x/" + TYPEID).text("/resolved")).isEqualTo("/x/" + KEY);
    for (String text : List.of(order, KEY, "inv-", "inv-new", "inv-" + HASHIDS.encode(7) + "x")) {
      assertThat(client.resolveUrl("/x/" + text).text("/resolved")).isEqualTo("/x/" + text);
    }
    assertThat(client.resolveUrl("/orders/new").text("/resolved")).isEqualTo("/orders/new");
    assertProblem(client.resolveUrl("/x/inv-" + HASHIDS.encode(8)), "404 legacy_id_unknown url");
  }

  @Test
  void aBatchTakesAllOfThem() {
    List<String> ids = new ArrayList<>();
    ids.add(client.get("/v1/legacy/invoice/7").text("/id"));
    links().forEach(link -> ids.add(link.get(1)));
    ids.add("inv-" + HASHIDS.encode(8));
    ids.add("inv-new");
    ids.add(ids.get(1));

    Reply batch = client.post("/v1/ids/resolve", json("ids", ids));

    List<String> keys = new ArrayList<>();
    batch
        .body()
        .get("data")
        .forEach(
            item ->
                keys.add(
                    item.has("error")
                        ? item.at("/error/code").stringValue()
                        : item.at("/public_id/key").stringValue()));
    assertThat(keys)
        .containsExactly(
            "42", "42", "42", KEY, KEY, "public_id_unknown", "public_id_malformed", "42");
  }

  @Test
  void itIsCountedAndTreatedAsALegacyId() {
    String text = "/r/inv-" + HASHIDS.encode(7);
    long before = client.legacyHits("invoice");
    long users = client.legacyHits("user");

    Reply reply = visitor().get(text);

    assertThat(reply.header("Sunset")).isEqualTo("Sun, 06 Jan 2999 07:08:09 GMT");
    client.get("/v1/ids/inv-" + HASHIDS.encode(7));
    visitor().get("/r/" + TYPEID);
    await().until(() -> client.legacyHits("invoice") >= before + 2);
    await().until(() -> client.legacyHits("user") >= users + 1);
  }

  @Test
  void aSunsetEndsItForThePublicOnly() {
    String text = "gone-" + HASHIDS.encode(7);

    Reply over = visitor().get("/r/" + text);

    assertProblem(over, "410 legacy_ids_gone");
    assertThat(over.header("Sunset")).isEqualTo("Wed, 03 Feb 2021 04:05:06 GMT");
    assertThat(visitor().head("/r/" + text).status()).isEqualTo(410);
    assertProblem(visitor().get("/legacy/gone/" + text), "410 legacy_ids_gone");
    assertThat(client.get("/v1/ids/" + text).text("/key")).isEqualTo("42");
    Reply nginx = client.with("X-Original-URI", "/gones/" + text).get("/v1/urls/auth-request");
    assertThat(nginx.header("X-Coatcheck-Status")).isEqualTo("410");
  }

  @ParameterizedTest
  @ValueSource(strings = {"closed", "linkless", "hidden"})
  void whatIsNotPublicLooksAsIfItWereNotThere(String type) {
    String text = type + "-" + HASHIDS.encode(7);
    Reply nothing = visitor().get("/r/nothing");

    assertThat(visitor().get("/r/" + text).nameless()).isEqualTo(nothing.nameless());
    assertThat(visitor().get("/r/" + type + "-" + HASHIDS.encode(8)).nameless())
        .isEqualTo(nothing.nameless());
    assertThat(visitor().get("/legacy/" + type + "/" + text).nameless())
        .isEqualTo(visitor().get("/legacy/nothing/" + text).nameless());
    assertThat(client.get("/v1/ids/" + text).text("/key")).isEqualTo("42");
  }

  /** Else a stranger finds out which texts a private type's rule decodes. */
  @ParameterizedTest
  @ValueSource(strings = {"closed", "linkless", "hidden"})
  void textsOfAPrivateTypeCountAsLittleAsRandomOnes(String type) {
    TestClient stranger = visitor();
    Map<String, Object> nothing = stranger.get("/r/nothing").nameless();

    for (int n = 1; n <= 2 * ScanGuard.NUMBERS_MAX; n++) {
      assertThat(stranger.get("/r/" + type + "-" + HASHIDS.encode((long) n * n)).nameless())
          .as("text %s", n)
          .isEqualTo(nothing);
    }
    assertThat(stranger.get("/r/inv-" + HASHIDS.encode(7)).status()).isEqualTo(308);
    for (int n = 1_000; stranger.get("/r/inv-" + HASHIDS.encode(n)).status() != 429; n++) {
      assertThat(n).isLessThan(1_000 + 2 * ScanGuard.NUMBERS_MAX);
    }
    assertThat(stranger.get("/r/" + type + "-" + HASHIDS.encode(7)).nameless()).isEqualTo(nothing);
  }

  @Test
  void textsOfAPrivateTypeNeedNoDatabase() {
    String id = client.mint("album", "key", "42").text("/id");
    Map<String, Object> nothing = visitor().get("/r/nothing").nameless();
    GATEWAY.setReachable(false);
    try {
      for (String text : List.of("album-7", id, "hidden-" + HASHIDS.encode(7))) {
        assertThat(visitor().once().get("/r/" + text).nameless()).as(text).isEqualTo(nothing);
      }
    } finally {
      GATEWAY.setReachable(true);
    }
  }

  @Test
  void aNumberBeyondTheHighestIsNotFound() {
    Reply high = visitor().get("/r/inv-" + HASHIDS.encode(1_000_001));

    assertProblem(high, "404 not_found");
    assertThat(high.nameless()).isEqualTo(visitor().get("/r/nothing").nameless());
  }

  @Test
  void whoeverGoesThroughThemIsRefused() {
    TestClient scanner = client.anonymous().with("X-Forwarded-For", "198.51.100.7");
    for (int n = 100; n < 100 + ScanGuard.NUMBERS_MAX + 1; n++) {
      scanner.get("/r/inv-" + HASHIDS.encode(n));
    }

    Reply refused = scanner.get("/r/inv-" + HASHIDS.encode(7));

    assertProblem(refused, "429 abnormal_usage_detected");
    assertThat(refused.header("Retry-After")).isNotEmpty();
    assertThat(scanner.head("/r/inv-" + HASHIDS.encode(7)).status()).isEqualTo(429);
    String id = client.get("/v1/legacy/invoice/7").text("/id");
    assertThat(scanner.get("/r/" + id).status()).isEqualTo(302);
    assertThat(visitor().get("/r/inv-" + HASHIDS.encode(7)).status()).isEqualTo(308);
  }

  @Test
  void theEndOfAPublicIdIsTheEndOfItsOlderOne() {
    String id = client.mint("invoice", "key", "77", "legacy_id", "77").text("/id");
    String other = client.mint("invoice", "key", "78", "legacy_id", "78").text("/id");
    String text = "inv-" + HASHIDS.encode(77);
    String uuid = UUID.randomUUID().toString();
    String device = client.mint("device", "key", uuid).text("/id");

    client.post("/v1/ids/" + id + "/merge", json("into", other));
    assertThat(client.get("/v1/ids/" + text).text("/merged_into")).isEqualTo(other);
    assertThat(visitor().get("/r/" + text).header("Location")).endsWith(other);
    client.post("/v1/ids/" + other + "/revoke", "{}");
    await().until(() -> client.get("/v1/ids/" + text).status() == 410);
    assertProblem(client.get("/v1/ids/" + text), "410 public_id_revoked id");
    assertProblem(visitor().get("/r/" + text), "410 public_id_revoked");
    assertThat(client.get("/v1/ids/" + uuid).text("/id")).isEqualTo(device);
    client.post("/v1/ids/" + device + "/revoke", "{}");
    assertProblem(client.get("/v1/ids/" + uuid), "410 public_id_revoked id");
    assertProblem(visitor().get("/r/" + uuid), "410 public_id_revoked");
  }

  /** A text of digits may be a number and an older public ID: then it is neither. */
  @Test
  void digitsThatAreBothAreRefusedWhereBothMayStand() {
    String text = "";
    Sqids digits = Sqids.builder().alphabet("0123456789").build();
    long number = 5;
    while (text.isEmpty() || text.startsWith("0")) {
      text = digits.encode(List.of(++number));
    }
    put("both", Map.of("scheme", "sqids", "alphabet", "0123456789"), Map.of());
    client.mint("both", "key", "1", "legacy_id", Long.toString(number));
    client.mint("both", "key", "2", "legacy_id", text);

    assertThat(client.get("/v1/ids/" + text).text("/key")).isEqualTo("1");
    assertThat(client.get("/v1/legacy/both/" + text).text("/key")).isEqualTo("2");
    assertThat(visitor().get("/r/" + text).status()).isEqualTo(308);
    assertProblem(visitor().get("/legacy/both/" + text), "400 legacy_id_malformed n");
    assertProblem(client.resolveUrl("/boths/" + text), "400 legacy_id_malformed url");
    client.put(TestType.of("both", "both"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "inv-", "inv-gB0NV05", "inv-GB0NV05E",
        "INV-gB0NV05e", "inv-gB0NV05e%0A", "inv-%EF%BD%87B0NV05e",
        "inv-gB0NV05e.", "user_01H455VB4PEX5VSKNK084SN02Q", "user_",
        "01890a5dac96774bbcceb302099a8057"
      })
  void whatIsNotExactlyTheTextIsMalformed(String text) {
    assertThat(client.hostile().get("/v1/ids/" + text).status()).isEqualTo(400);
    assertThat(visitor().hostile().get("/r/" + text).status()).isIn(400, 404);
    assertThat(visitor().hostile().get("/legacy/invoice/" + text).status()).isEqualTo(400);
    assertThat(client.get("/v1/ids/inv-" + HASHIDS.encode(7)).text("/key")).isEqualTo("42");
  }

  /** Such a text looks like any other: the rule of a type says what it is. */
  @Test
  void theInspectorNamesWhatARuleDecodes() {
    Reply marked = client.get("/v1/inspect/inv-" + HASHIDS.encode(4_711));
    Reply bare = client.get("/v1/inspect/" + SQIDS.encode(List.of(4_711L)));

    assertThat(marked.text("/candidates/0/format")).isEqualTo("hashids");
    assertThat(marked.text("/candidates/0/certainty")).isEqualTo("certain");
    assertThat(marked.text("/candidates/0/type")).isEqualTo("invoice");
    assertThat(marked.text("/candidates/0/fields/number")).isEqualTo("4711");
    assertThat(marked.text("/candidates/0/reveals/0")).isEqualTo("volume");
    assertThat(bare.text("/candidates/0/format")).isEqualTo("sqids");
    assertThat(bare.text("/candidates/0/certainty")).isEqualTo("likely");
    assertThat(bare.text("/candidates/0/type")).isEqualTo("order");
    for (String text : List.of("inv-new", HASHIDS.encode(7), "inv-" + HASHIDS.encode(7, 7))) {
      assertThat(client.get("/v1/inspect/" + text).body().get("candidates").toString())
          .doesNotContain("hashids", "sqids");
    }
    assertThat(client.get("/v1/inspect/" + TYPEID).text("/candidates/0/format"))
        .isEqualTo("typeid");
  }

  /** Legacy IDs begin at 1, so the text of 0 is none, though the libraries make it. */
  @Test
  void theTextOfZeroAndOfSeveralNumbersIsMalformed() {
    for (String text :
        List.of(
            "inv-" + HASHIDS.encode(0),
            "inv-" + HASHIDS.encode(7, 7),
            SQIDS.encode(List.of(0L)),
            SQIDS.encode(List.of(7L, 7L)))) {
      assertProblem(client.get("/v1/ids/" + text), "400 public_id_malformed id");
    }
  }
}
