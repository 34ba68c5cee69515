package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Numbers in links of the public, and what is known of those who ask for them. */
class LegacyRoutesTest {
  private static final Map<String, Object> PUBLIC =
      Map.of("template", "https://shop.example/o/{id}");

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static TestClient client;
  private static TestClient anyone;

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
    anyone = client.anonymous();
    put("plain", "pl", PUBLIC, Map.of());
    put(
        "dated",
        "dt",
        Map.of("template", "https://shop.example/o/{id}?k={key}", "expose_key", true),
        Map.of(
            "status",
            301,
            "max_id",
            "1000",
            "deprecated_at",
            "2026-01-01T00:00:00Z",
            "sunset_at",
            "2999-01-06T07:08:09Z",
            "max_age_seconds",
            3600));
    put(
        "over",
        "ov",
        PUBLIC,
        Map.of("deprecated_at", "2020-02-03T00:00:00Z", "sunset_at", "2021-02-03T04:05:06Z"));
    put("none", "nn", PUBLIC, null);
    put("closed", "cl", PUBLIC, Map.of("public", false));
    put("linkless", "ll", null, Map.of());
    put(
        "hidden",
        "hd",
        Map.of("template", "https://shop.example/o/{id}", "public", false),
        Map.of());
    for (String type : List.of("plain", "dated", "over", "none", "closed", "linkless", "hidden")) {
      mint(type, 42, 7);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"plain", "dated", "over", "none", "closed", "linkless", "hidden"})
  void aCallerWithAKeyFindsANumberWhateverThePolicy(String type) {
    Reply found = client.get("/v1/legacy/" + type + "/7");

    assertThat(found.status()).isEqualTo(200);
    assertThat(found.text("/legacy_id")).isEqualTo("7");
    assertThat(found.text("/key")).isEqualTo("42");
    assertThat(client.get("/v1/ids/" + found.text("/id")).text("/key")).isEqualTo("42");
  }

  @Test
  void aNumberThatWasNeverGivenIs404ForACallerWithAKey() {
    assertProblem(client.get("/v1/legacy/plain/8"), "404 legacy_id_unknown n");
    assertProblem(client.get("/v1/legacy/nothing/7"), "404 type_unknown type");
  }

  @Test
  void aNumberLeadsToItsPublicIdsAddress() {
    String id = client.get("/v1/legacy/plain/7").text("/id");

    Reply reply = anyone.get("/legacy/plain/7");

    assertThat(reply.status()).isEqualTo(308);
    assertThat(reply.header("Location")).isEqualTo("https://shop.example/o/" + id);
    assertThat(reply.header("Link"))
        .isEqualTo("<https://shop.example/o/" + id + ">; rel=\"canonical\"");
    assertThat(reply.header("Cache-Control")).isEqualTo("no-store");
    assertThat(reply.headers()).doesNotContainKeys("deprecation", "sunset");
  }

  @Test
  void aTypeSaysHowLongItsNumbersLast() {
    String id = client.get("/v1/legacy/dated/7").text("/id");

    Reply reply = anyone.get("/legacy/dated/7");

    assertThat(reply.status()).isEqualTo(301);
    assertThat(reply.header("Location")).isEqualTo("https://shop.example/o/" + id + "?k=42");
    assertThat(reply.header("Deprecation")).isEqualTo("@1767225600");
    assertThat(reply.header("Sunset")).isEqualTo("Sun, 06 Jan 2999 07:08:09 GMT");
    assertThat(reply.header("Cache-Control")).isEqualTo("public, max-age=3600");
  }

  @Test
  void afterTheSunsetEveryNumberIsGone() {
    Reply reply = anyone.get("/legacy/over/7");

    assertProblem(reply, "410 legacy_ids_gone");
    assertThat(reply.header("Deprecation")).isEqualTo("@1580688000");
    assertThat(reply.header("Sunset")).isEqualTo("Wed, 03 Feb 2021 04:05:06 GMT");
    assertThat(reply.header("Cache-Control")).isEqualTo("no-store");
    assertThat(anyone.get("/legacy/over/8").nameless()).isEqualTo(reply.nameless());
  }

  @Test
  void theNumberOfARevokedPublicIdIsGone() {
    String id = mint("plain", 43, 9);
    client.post("/v1/ids/" + id + "/revoke", "{}");

    assertProblem(anyone.get("/legacy/plain/9"), "410 public_id_revoked");
    assertThat(anyone.get("/legacy/plain/9").nameless())
        .isEqualTo(anyone.get("/r/" + id).nameless());
    assertProblem(client.get("/v1/legacy/plain/9"), "410 public_id_revoked n");
  }

  @Test
  void theNumberOfAMergedPublicIdLeadsToTheSurvivor() {
    String id = mint("plain", 44, 10);
    String survivor = client.get("/v1/legacy/plain/7").text("/id");
    client.post("/v1/ids/" + id + "/merge", json("into", survivor));

    assertThat(anyone.get("/legacy/plain/10").header("Location"))
        .isEqualTo("https://shop.example/o/" + survivor);
    Reply merged = client.get("/v1/legacy/plain/10");
    assertThat(merged.text("/status")).isEqualTo("merged");
    assertThat(merged.text("/merged_into")).isEqualTo(survivor);
    assertThat(merged.text("/legacy_id")).isEqualTo("10");
  }

  @Test
  void everythingThatLeadsNowhereLooksTheSame() {
    List<String> paths =
        List.of(
            "/r/pl_x",
            "/legacy/plain/8",
            "/legacy/dated/1001",
            "/legacy/none/7",
            "/legacy/closed/7",
            "/legacy/linkless/7",
            "/legacy/hidden/7",
            "/legacy/nothing/7",
            "/legacy/No-Type/7",
            "/legacy/%20/7");

    List<Map<String, Object>> answers =
        paths.stream().map(path -> anyone.hostile().get(path).nameless()).toList();

    assertThat(answers).allMatch(answers.getFirst()::equals);
    assertThat(answers.getFirst()).containsEntry("status", 404);
    assertThat(answers.getFirst()).containsEntry("cache-control", List.of("no-store"));
  }

  @ParameterizedTest
  @CsvSource({"plain/7, 308", "dated/7, 301", "over/7, 410", "plain/8, 404", "nothing/1, 404"})
  void headSaysWhatGetSays(String path, int status) {
    Map<String, Object> get = anyone.get("/legacy/" + path).nameless();
    Map<String, Object> head = anyone.head("/legacy/" + path).nameless();

    assertThat(head).containsEntry("status", status);
    assertThat(withoutBody(head)).isEqualTo(withoutBody(get));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "-1",
        "007",
        "1e3",
        "9223372036854775808",
        "%D9%A4%D9%A2",
        "7%20",
        "7%0A",
        "_"
      })
  void aMalformedNumberIs400WhateverTheType(String number) {
    for (String type : List.of("plain", "nothing")) {
      assertProblem(
          anyone.hostile().get("/legacy/" + type + "/" + number), "400 legacy_id_malformed n");
      assertThat(anyone.hostile().head("/legacy/" + type + "/" + number).status()).isEqualTo(400);
    }
    assertProblem(client.hostile().get("/v1/legacy/plain/" + number), "400 legacy_id_malformed n");
  }

  @Test
  void whatThePolicyDecidesNeedsNoDatabase() {
    assertThat(anyone.get("/legacy/dated/7").status()).isEqualTo(301);
    GATEWAY.setReachable(false);
    try {
      assertThat(anyone.get("/legacy/over/7").status()).isEqualTo(410);
      for (String path : List.of("dated/1001", "none/7", "closed/7", "linkless/7", "hidden/7")) {
        assertThat(anyone.get("/legacy/" + path).status()).as(path).isEqualTo(404);
      }
      assertThat(anyone.once().get("/legacy/dated/1000").status()).isEqualTo(503);
    } finally {
      GATEWAY.setReachable(true);
    }
  }

  @Test
  void numbersThatWereFoundAreCountedPerDay() {
    put("counted", "co", PUBLIC, Map.of());
    mint("counted", 42, 7);
    assertThat(client.get("/v1/legacy/counted/7").status()).isEqualTo(200);
    assertThat(client.get("/v1/legacy/counted/8").status()).isEqualTo(404);

    await()
        .until(
            () ->
                client.get("/v1/types/counted/legacy-hits").body().at("/data/0/count").asLong()
                    > 0);

    Reply hits = client.get("/v1/types/counted/legacy-hits");
    assertThat(hits.body().at("/data")).hasSize(1);
    assertThat(hits.body().at("/data/0/count").asLong()).isEqualTo(1);
    String day = hits.text("/data/0/day");
    assertThat(
            client
                .get("/v1/types/counted/legacy-hits?from=" + day + "&to=" + day)
                .body()
                .at("/data/0"))
        .isEqualTo(hits.body().at("/data/0"));
    assertThat(
            client
                .get("/v1/types/counted/legacy-hits?from=2020-01-01&to=2020-12-31")
                .body()
                .at("/data"))
        .isEmpty();
    assertThat(anyone.get("/v1/types/counted/legacy-hits").status()).isEqualTo(401);
    for (String query :
        List.of(
            "from=2020-02-30",
            "from=yesterday",
            "to=1",
            "from=2020-01-02&to=2020-01-01",
            "from=2020-01-01&to=2021-01-01",
            "day=2020-01-01")) {
      assertThat(client.hostile().get("/v1/types/counted/legacy-hits?" + query).status())
          .as(query)
          .isEqualTo(400);
    }
    assertThat(client.get("/v1/types/nothing/legacy-hits").status()).isEqualTo(404);
  }

  @Test
  void whoGoesThroughTheNumbersIsRefusedForAWhile() {
    TestClient scanner = client.anonymous().with("X-Forwarded-For", "198.51.100.31");
    int asked = 100;
    Reply reply;
    do {
      asked++;
      reply = scanner.get("/legacy/plain/" + asked);
    } while (asked < 300 && reply.status() != 429);

    assertThat(asked).isEqualTo(141);
    assertThat(reply.text("/code")).isEqualTo("abnormal_usage_detected");
    assertThat(reply.text("/type"))
        .isEqualTo("https://iana.org/assignments/http-problem-types#abnormal-usage-detected");
    assertThat(reply.header("Retry-After")).isEqualTo("60");
    assertThat(reply.header("RateLimit-Policy")).isEqualTo("\"legacy\";q=40;w=60");
    assertThat(reply.header("RateLimit")).isEqualTo("\"legacy\";r=0;t=60");
    assertThat(reply.header("Cache-Control")).isEqualTo("no-store");

    for (String path : List.of("plain/7", "dated/7", "nothing/7")) {
      assertThat(scanner.get("/legacy/" + path).status()).as(path).isEqualTo(429);
      assertThat(scanner.head("/legacy/" + path).status()).as(path).isEqualTo(429);
    }
    assertThat(
            scanner
                .with("X-Forwarded-For", "198.51.100.32, 198.51.100.31")
                .get("/legacy/plain/7")
                .status())
        .isEqualTo(429);
    assertThat(scanner.with("X-Forwarded-For", "198.51.100.32").get("/legacy/plain/7").status())
        .isEqualTo(308);
    assertThat(client.get("/v1/legacy/plain/7").status()).isEqualTo(200);
    assertThat(scanner.get("/r/pl_x").status()).isEqualTo(404);
  }

  private static void put(
      String name,
      String prefix,
      @Nullable Map<String, Object> redirect,
      @Nullable Map<String, Object> legacy) {
    Reply reply =
        client.put(TestType.of(name, prefix).with("redirect", redirect).with("legacy", legacy));
    // 200 if it was created by a request whose answer was late.
    assertThat(reply.status()).isIn(200, 201);
  }

  private static String mint(String type, int key, int number) {
    return client
        .mint(type, "key", String.valueOf(key), "legacy_id", String.valueOf(number))
        .text("/id");
  }

  private static Map<String, Object> withoutBody(Map<String, Object> answer) {
    answer.remove("body");
    return answer;
  }
}
