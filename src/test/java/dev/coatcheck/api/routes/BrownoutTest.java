package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.hashids.Hashids;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Windows in which legacy IDs are refused. Two types are in one now, with 503 and with 410; the
 * brownout of a third one is yet to come.
 */
class BrownoutTest {
  private static Instant ends = Instant.EPOCH;
  private static final String SUNSET = "2999-01-06T07:08:09Z";
  private static final String SUNSET_HEADER = "Sun, 06 Jan 2999 07:08:09 GMT";
  private static final String LINK = "https://docs.example/legacy";
  private static final String LINK_HEADER = "<" + LINK + ">; rel=\"sunset\"";

  private static final Hashids HASHIDS = new Hashids("salt", 8);

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static TestClient client;
  private static TestClient anyone;
  private static TestClient exempt;

  @BeforeAll
  static void start() {
    ends = Instant.now().truncatedTo(ChronoUnit.SECONDS).plus(Duration.ofHours(1));
    client = GATEWAY.client().once();
    anyone = client.anonymous().with("X-Forwarded-For", "198.51.100.91");
    String key = GATEWAY.keyWith(Scope.IDS_READ);
    exempt = new TestClient(GATEWAY.uri(), key);
    String exemptId = "key_" + key.substring(9, 21);
    Instant began = ends.minus(Duration.ofHours(2));
    put("paused", Map.of("from", began.toString(), "to", ends.toString()), exemptId);
    put("gone", Map.of("from", began.toString(), "to", ends.toString(), "answer", 410), exemptId);
    put(
        "soon",
        Map.of(
            "from", ends.toString(),
            "to", ends.plusSeconds(60).toString()),
        exemptId);
  }

  private static void put(String type, Map<String, Object> brownout, String exemptKey) {
    Reply put =
        client.put(
            TestType.of(type, type)
                .with(
                    "redirect",
                    Map.of("template", "https://shop.example/{id}", "max_age_seconds", 86_400))
                .with(
                    "legacy",
                    Map.of(
                        "max_age_seconds",
                        86_400,
                        "sunset_at",
                        SUNSET,
                        "sunset_link",
                        LINK,
                        "brownouts",
                        List.of(brownout),
                        "brownouts_exempt",
                        List.of(exemptKey)))
                .with("url_templates", List.of("/" + type + "/{legacy:" + type + "}"))
                .with(
                    "public_rule",
                    Map.of(
                        "scheme",
                        "hashids",
                        "salt",
                        "salt",
                        "min_length",
                        8,
                        "text_prefix",
                        type + "-")));
    assertThat(put.status()).isEqualTo(201);
    client.mint(type, "legacy_id", "7");
  }

  private static void requirePaused(Reply reply) {
    assertProblem(reply, "503 legacy_brownout");
    requireAnnounced(reply);
    assertThat(Integer.parseInt(reply.header("Retry-After"))).isBetween(1, 3_600);
  }

  private static void requireGone(Reply reply) {
    assertProblem(reply, "410 legacy_brownout_gone");
    requireAnnounced(reply);
    assertThat(reply.headers()).doesNotContainKey("retry-after");
  }

  private static void requireAnnounced(Reply reply) {
    assertThat(reply.header("Cache-Control")).isEqualTo("no-store");
    assertThat(reply.header("Sunset")).isEqualTo(SUNSET_HEADER);
    assertThat(reply.header("Link")).isEqualTo(LINK_HEADER);
    assertThat(reply.text("/brownout_ends_at")).isEqualTo(ends.toString());
    assertThat(reply.text("/sunset_at")).isEqualTo(SUNSET);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/legacy/TYPE/7", "/legacy/TYPE/8"})
  void aLinkIsRefusedWhetherOrNotItIsOne(String path) {
    requirePaused(anyone.get(path.replace("TYPE", "paused")));
    requireGone(anyone.get(path.replace("TYPE", "gone")));
    assertThat(anyone.head(path.replace("TYPE", "paused")).status()).isEqualTo(503);
  }

  @Test
  void aLookUpIsRefusedUnlessItsKeyIsExempt() {
    requirePaused(client.get("/v1/legacy/paused/7"));
    requirePaused(client.resolveUrl("/paused/7"));
    requireGone(client.get("/v1/legacy/gone/7"));
    requireGone(client.resolveUrl("/gone/7?x=1"));
    assertThat(exempt.get("/v1/legacy/paused/7").status()).isEqualTo(200);
    assertThat(exempt.resolveUrl("/gone/7").status()).isEqualTo(200);
    assertProblem(exempt.get("/v1/legacy/paused/8"), "404 legacy_id_unknown n");
  }

  @Test
  void anOlderPublicIdIsRefusedLikeTheLegacyIdThatItCarries() {
    String older = exempt.get("/v1/types/paused/aliases/legacy/7").text("/public_id/id");
    assertThat(client.get("/v1/ids/" + older).status()).as("a public ID of ours").isEqualTo(200);
    assertThat(anyone.get("/r/" + older).status()).isEqualTo(302);
    String hashid = "paused-" + HASHIDS.encode(7);
    requirePaused(anyone.get("/r/" + hashid));
    requirePaused(anyone.get("/legacy/paused/" + hashid));
    requirePaused(client.get("/v1/ids/" + hashid));
    requirePaused(client.get("/v1/ids/" + hashid + "?expand=aliases"));
    assertThat(exempt.get("/v1/ids/" + hashid).status()).isEqualTo(200);
    Reply batch =
        client.post("/v1/ids/resolve", json("ids", List.of(older, hashid, "paused-nothing")));
    assertThat(batch.body().at("/data/0/status").asInt()).isEqualTo(200);
    assertThat(batch.text("/data/1/error/code")).isEqualTo("legacy_brownout");
    assertThat(batch.body().at("/data/2/status").asInt()).isEqualTo(400);
  }

  @Test
  void eachItemOfABatchIsRefused() {
    Reply legacy =
        client.post(
            "/v1/legacy/resolve", json("type", "paused", "legacy_ids", List.of("7", "x", "8")));
    assertThat(legacy.status()).isEqualTo(200);
    assertThat(legacy.text("/data/0/error/code")).isEqualTo("legacy_brownout");
    assertThat(legacy.body().at("/data/0/status").asInt()).isEqualTo(503);
    assertThat(legacy.text("/data/0/error/brownout_ends_at")).isEqualTo(ends.toString());
    assertThat(legacy.text("/data/1/error/code")).isEqualTo("legacy_id_malformed");
    assertThat(legacy.text("/data/2/error/code")).isEqualTo("legacy_brownout");
    Reply urls = client.post("/v1/urls/resolve", json("urls", List.of("/gone/7", "/soon/7", "/x")));
    assertThat(urls.text("/data/0/error/code")).isEqualTo("legacy_brownout_gone");
    assertThat(urls.body().at("/data/1/status").asInt()).isEqualTo(200);
    assertThat(urls.body().at("/data/2/status").asInt()).isEqualTo(200);
    assertThat(
            exempt
                .post("/v1/legacy/resolve", json("type", "gone", "legacy_ids", List.of("7", "7")))
                .body()
                .at("/data/1/status")
                .asInt())
        .isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource({
    "paused, resolve, 503, legacy_brownout",
    "paused, redirect, 503, legacy_brownout",
    "gone, resolve, 410, legacy_brownout_gone",
    "gone, redirect, 410, legacy_brownout_gone",
  })
  void aProxyRefusesItsClients(String type, String legacy, int status, String code) {
    TestClient proxy =
        client.with("X-Coatcheck-Legacy", legacy).with("X-Forwarded-For", "198.51.100.92");

    Reply nginx = proxy.with("X-Original-URI", "/" + type + "/7").get("/v1/urls/auth-request");
    assertThat(nginx.status()).isEqualTo(403);
    assertThat(nginx.header("X-Coatcheck-Status")).isEqualTo(Integer.toString(status));
    assertThat(nginx.header("X-Coatcheck-Problem")).contains(code, ends.toString());
    assertThat(nginx.header("Sunset")).isEqualTo(SUNSET_HEADER);
    assertThat(nginx.header("Link")).isEqualTo(LINK_HEADER);
    assertThat(nginx.headers().containsKey("retry-after")).isEqualTo(status == 503);

    Reply envoy = proxy.get("/v1/urls/ext-authz/" + type + "/7");
    assertProblem(envoy, status + " " + code);
    requireAnnounced(envoy);

    assertThat(
            exempt
                .with("X-Coatcheck-Legacy", legacy)
                .with("X-Forwarded-For", "198.51.100.92")
                .get("/v1/urls/ext-authz/" + type + "/7")
                .status())
        .isEqualTo(legacy.equals("resolve") ? 200 : 308);
  }

  @Test
  void beforeABrownoutNoCacheKeepsARedirectIntoIt() {
    Reply link = anyone.get("/legacy/soon/7");
    assertThat(link.status()).isEqualTo(308);
    assertThat(link.header("Sunset")).isEqualTo(SUNSET_HEADER);
    assertThat(link.header("Link"))
        .isEqualTo("<" + link.header("Location") + ">; rel=\"canonical\", " + LINK_HEADER);
    requireBefore(link.header("Cache-Control"));
    Reply proxied =
        client
            .with("X-Coatcheck-Legacy", "redirect")
            .with("X-Forwarded-For", "198.51.100.93")
            .with("X-Original-URI", "/soon/7")
            .get("/v1/urls/auth-request");
    assertThat(proxied.header("X-Coatcheck-Status")).isEqualTo("308");
    requireBefore(proxied.header("X-Coatcheck-Cache-Control"));
    assertThat(client.with("X-Original-URI", "/soon/7").get("/v1/urls/auth-request").header("Link"))
        .isEqualTo(LINK_HEADER);
  }

  private static void requireBefore(String cacheControl) {
    assertThat(cacheControl).startsWith("public, max-age=");
    assertThat(Integer.parseInt(cacheControl.replace("public, max-age=", ""))).isBetween(1, 3_600);
  }

  @ParameterizedTest
  @CsvSource({"paused, 503", "gone, 410"})
  void aPersonGetsAPage(String type, int status) {
    Reply page = anyone.with("Accept", "text/html").get("/legacy/" + type + "/7");

    assertThat(page.status()).isEqualTo(status);
    assertThat(page.header("Content-Type")).startsWith("text/html");
    assertThat(page.body().asString()).contains("This link is paused");
    assertThat(page.header("Cache-Control")).isEqualTo("no-store");
    assertThat(page.header("Sunset")).isEqualTo(SUNSET_HEADER);
  }

  @Test
  void aBrownoutNeedsNoDatabase() {
    GATEWAY.setReachable(false);
    try {
      requirePaused(anyone.get("/legacy/paused/8"));
      requireGone(anyone.get("/legacy/gone/8"));
    } finally {
      GATEWAY.setReachable(true);
    }
  }

  @Test
  void aListThatIsNoneChangesNothing() {
    String hour = "\"from\":\"2026-12-01T10:00:00Z\",\"to\":\"2026-12-01T11:00:00Z\"";
    assertProblem(
        patched("{\"from\":\"2026-12-01T10:00:00Z\"}"), "400 field_missing legacy.brownouts[0].to");
    assertProblem(
        patched("{" + hour + ",\"why\":\"x\"}"), "400 field_unknown legacy.brownouts[0].why");
    List<String> many =
        IntStream.range(0, 51)
            .mapToObj(
                minute ->
                    "{\"from\":\"2026-12-01T10:%1$02d:00Z\",\"to\":\"2026-12-01T10:%1$02d:30Z\"}"
                        .formatted(minute))
            .toList();
    assertThat(patched(String.join(",", many)).status()).isEqualTo(400);
    assertThat(client.get("/v1/types/soon").body().at("/legacy/brownouts")).hasSize(1);
  }

  private static Reply patched(String brownouts) {
    return client
        .hostile()
        .patch("/v1/types/soon", "{\"legacy\":{\"brownouts\":[" + brownouts + "]}}");
  }

  @Test
  void aBrownoutCanBeAddedAndTakenAwayAtOnce() {
    client.put(
        TestType.of("later", "later")
            .redirect("https://shop.example/{id}")
            .with("legacy", Map.of()));
    client.mint("later", "legacy_id", "7");
    assertThat(anyone.get("/legacy/later/7").status()).isEqualTo(308);

    Reply added =
        client.patch(
            "/v1/types/later",
            json(
                "legacy",
                Map.of(
                    "brownouts",
                    List.of(
                        Map.of(
                            "from", ends.minus(Duration.ofHours(2)).toString(),
                            "to", ends.toString())))));
    assertThat(added.status()).as("no confirmation").isEqualTo(200);
    assertThat(anyone.get("/legacy/later/7").status()).isEqualTo(503);
    assertThat(anyone.get("/legacy/later/7").headers()).doesNotContainKeys("link", "sunset");

    client.patch("/v1/types/later", "{\"legacy\":{\"brownouts\":null}}");
    assertThat(anyone.get("/legacy/later/7").status()).isEqualTo(308);
  }
}
