package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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
    assertProblem(client.get("/v1/legacy/plain/8"), 404, "legacy_id_unknown", "n");
    assertProblem(client.get("/v1/legacy/nothing/7"), 404, "type_unknown", "type");
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

    assertProblem(reply, 410, "legacy_ids_gone", null);
    assertThat(reply.header("Deprecation")).isEqualTo("@1580688000");
    assertThat(reply.header("Sunset")).isEqualTo("Wed, 03 Feb 2021 04:05:06 GMT");
    assertThat(reply.header("Cache-Control")).isEqualTo("no-store");
    assertThat(comparable(anyone.get("/legacy/over/8"))).isEqualTo(comparable(reply));
  }

  @Test
  void theNumberOfARevokedPublicIdIsGone() {
    String id = mint("plain", 43, 9);
    client.post("/v1/ids/" + id + "/revoke", "{}");

    assertProblem(anyone.get("/legacy/plain/9"), 410, "public_id_revoked", null);
    assertThat(comparable(anyone.get("/legacy/plain/9")))
        .isEqualTo(comparable(anyone.get("/r/" + id)));
    assertProblem(client.get("/v1/legacy/plain/9"), 410, "public_id_revoked", "n");
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
        paths.stream().map(path -> comparable(anyone.hostile().get(path))).toList();

    assertThat(answers).allMatch(answers.getFirst()::equals);
    assertThat(answers.getFirst()).containsEntry("status", 404);
    assertThat(answers.getFirst()).containsEntry("Cache-Control", "[no-store]");
  }

  @ParameterizedTest
  @CsvSource({"plain/7, 308", "dated/7, 301", "over/7, 410", "plain/8, 404", "nothing/1, 404"})
  void headSaysWhatGetSays(String path, int status) {
    Map<String, Object> get = comparable(anyone.get("/legacy/" + path));
    Map<String, Object> head = comparable(anyone.head("/legacy/" + path));

    assertThat(head).containsEntry("status", status);
    assertThat(withoutBody(head)).isEqualTo(withoutBody(get));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0", "-1", "007", "+1", "1e3", "0x1", "1.0", "9223372036854775808", "10000000000000000000",
        "12345678901234567890", "%D9%A4%D9%A2", "%EF%BC%97", "7%20", "%207", "7%0A", "7a", "NaN",
            "_"
      })
  void aMalformedNumberIs400WhateverTheType(String number) {
    for (String type : List.of("plain", "nothing")) {
      assertProblem(
          anyone.hostile().get("/legacy/" + type + "/" + number), 400, "legacy_id_malformed", "n");
      assertThat(anyone.hostile().head("/legacy/" + type + "/" + number).status()).isEqualTo(400);
    }
    assertProblem(
        client.hostile().get("/v1/legacy/plain/" + number), 400, "legacy_id_malformed", "n");
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

  /** All of an answer but its name and its time. */
  private static String mint(String type, int key, int number) {
    return client
        .mint(type, "key", String.valueOf(key), "legacy_id", String.valueOf(number))
        .text("/id");
  }

  private static Map<String, Object> comparable(Reply reply) {
    String name = reply.header("Request-Id");
    Map<String, Object> all = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    reply
        .headers()
        .forEach((header, values) -> all.put(header, new ArrayList<>(values).toString()));
    List.of("Date", "Request-Id", "Content-Length").forEach(all::remove);
    all.put("body", reply.body().toString().replace(name, ""));
    all.put("status", reply.status());
    return all;
  }

  private static Map<String, Object> withoutBody(Map<String, Object> answer) {
    answer.remove("body");
    return answer;
  }
}
