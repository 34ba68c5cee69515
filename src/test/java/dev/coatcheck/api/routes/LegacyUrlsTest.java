package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Legacy IDs in URLs, for callers with an API key. Order 7 has the key 42, customer 5 the key UUID;
 * ORD and CUS stand for their public IDs.
 */
class LegacyUrlsTest {
  private static final String UUID = "01a1fd3c-753a-7c3e-9a41-6f0d2be8175c";
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static TestClient client;
  private static String order;
  private static String customer;

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
    client.put(
        TestType.of("customer", "cus")
            .uuids()
            .with("url_templates", List.of("/customers/{legacy:customer}")));
    client.put(
        TestType.of("order", "ord")
            .with(
                "url_templates",
                List.of(
                    "/orders/{legacy:order}",
                    "/{*}/orders/{legacy:order}",
                    "/v/2/orders/{legacy:order}/invoice.pdf",
                    "/customers/{legacy:customer}/orders/{legacy:order}")));
    client.put(TestType.of("bare", "br"));
    order = client.mint("order", "key", "42", "legacy_id", "7").text("/id");
    customer = client.mint("customer", "key", UUID, "legacy_id", "5").text("/id");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          /orders/7                        | /orders/42                          | /orders/ORD
          /orders/7/                       | /orders/42/                         | /orders/ORD/
          /orders/%37?a=7&b=%20            | /orders/42?a=7&b=%20                | /orders/ORD?a=7&b=%20
          /orders/7.json                   | /orders/42.json                     | /orders/ORD.json
          /orders/7:refund                 | /orders/42:refund                   | /orders/ORD:refund
          /orders/7;v=1                    | /orders/42;v=1                      | /orders/ORD;v=1
          /%6Frders/7                      | /%6Frders/42                        | /%6Frders/ORD
          /shop/orders/7                   | /shop/orders/42                     | /shop/orders/ORD
          /5/orders/7                      | /5/orders/42                        | /5/orders/ORD
          /CUS/orders/7                    | /UUID/orders/42                     | /CUS/orders/ORD
          /v/2/orders/7/invoice.pdf        | /v/2/orders/42/invoice.pdf          | /v/2/orders/ORD/invoice.pdf
          /customers/5                     | /customers/UUID                     | /customers/CUS
          /customers/5/orders/7?id=ORD     | /customers/UUID/orders/42?id=42     | /customers/CUS/orders/ORD?id=ORD
          /customers/CUS/orders/7          | /customers/UUID/orders/42           | /customers/CUS/orders/ORD
          /customers/5/orders/ORD          | /customers/UUID/orders/42           | /customers/CUS/orders/ORD
          /customers/5/orders/new          | /customers/UUID/orders/new          | /customers/CUS/orders/new
          https://API.example.com/orders/7 | https://API.example.com/orders/42   | https://API.example.com/orders/ORD
          """)
  void aNumberWhereATemplateHasALegacyIdBecomesItsKey(String url, String resolved, String known) {
    Reply reply = resolve(filled(url));

    assertThat(reply.text("/resolved")).isEqualTo(filled(resolved));
    assertThat(reply.text("/public_url")).isEqualTo(filled(known));
    assertThat(resolve(reply.text("/public_url")).text("/resolved")).isEqualTo(filled(resolved));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/orders",
        "/orders/",
        "/orders/new",
        "/orders/7a",
        "/orders/7-a-title",
        "/orders/e3",
        "/orders/NaN",
        "/orders/2026-01",
        "/orders/7,8",
        "/orders//7",
        "/Orders/7",
        "/orders;v=1/7",
        "/orders/7/refunds",
        "/bills/7",
        "/orders?id=7",
        "/v/3/orders/7/invoice.pdf",
        "/x/y/orders/7"
      })
  void allElseStaysAsItIs(String url) {
    Reply reply = resolve(url);

    assertThat(reply.text("/resolved")).isEqualTo(url);
    assertThat(reply.body().has("public_url")).isFalse();
    assertThat(reply.body().at("/ids")).isEmpty();
  }

  @Test
  void theAnswerNamesBothIds() {
    assertThat(resolve(filled("/customers/5/orders/7?after=ORD")).body().toString())
        .isEqualTo(
            filled(
                """
                {"object":"resolved_url","url":"/customers/5/orders/7?after=ORD",\
                "resolved":"/customers/UUID/orders/42?after=42",\
                "public_url":"/customers/CUS/orders/ORD?after=ORD","ids":[\
                {"id":"CUS","type":"customer","key":"UUID","status":"active","legacy_id":"5"},\
                {"id":"ORD","type":"order","key":"42","status":"active","legacy_id":"7"},\
                {"id":"ORD","type":"order","key":"42","status":"active"}]}\
                """));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "007",
        "-1",
        "+7",
        "9223372036854775808",
        "%D9%A4%D9%A2",
        "0.json",
        "7%20",
        "1e3",
        "0x1"
      })
  void aNumberInAnotherSpellingIs400(String number) {
    assertProblem(resolveHostile("/orders/" + number), "400 legacy_id_malformed url");
    assertThat(resolve("/bills/" + number).text("/resolved")).isEqualTo("/bills/" + number);
  }

  @Test
  void theFirstIdThatCannotBeResolvedDecides() {
    String gone = client.mint("order", "legacy_id", "70").text("/id");
    String merged = client.mint("order", "legacy_id", "71").text("/id");
    client.post("/v1/ids/" + gone + "/revoke", json("reason", "leaked"));
    client.post("/v1/ids/" + merged + "/merge", json("into", order));

    assertProblem(resolve("/orders/8"), "404 legacy_id_unknown url");
    assertProblem(resolve("/orders/8?id=" + TestClient.UNKNOWN_ID), "404 legacy_id_unknown url");
    assertProblem(resolve("/customers/7/orders/70"), "404 legacy_id_unknown url");
    assertProblem(resolve("/orders/70"), "410 public_id_revoked url");
    Reply survivor = resolve("/orders/71");
    assertThat(survivor.text("/resolved")).isEqualTo("/orders/42");
    assertThat(survivor.text("/public_url")).isEqualTo("/orders/" + order);
    assertThat(survivor.text("/ids/0/id")).isEqualTo(merged);
    assertThat(survivor.text("/ids/0/status")).isEqualTo("merged");
    assertThat(survivor.text("/ids/0/merged_into")).isEqualTo(order);
  }

  @Test
  void aUrlHasFiftyIdsAtMost() {
    String more = "&id=" + order;
    assertThat(resolve("/orders/7?" + more.repeat(49)).status()).isEqualTo(200);
    assertProblem(resolveHostile("/orders/7?" + more.repeat(50)), "400 url_invalid url");
  }

  @Test
  void manyLegacyIdsAreResolvedInOneCall() {
    String gone = client.mint("order", "legacy_id", "80").text("/id");
    String merged = client.mint("order", "legacy_id", "81").text("/id");
    client.post("/v1/ids/" + gone + "/revoke", "{}");
    client.post("/v1/ids/" + merged + "/merge", json("into", order));
    List<String> asked = List.of("7", "8", "007", "80", "7", "81", "", "9223372036854775807");

    Reply reply =
        client.hostile().post("/v1/legacy/resolve", json("type", "order", "legacy_ids", asked));

    assertThat(reply.status()).isEqualTo(200);
    assertThat(statuses(reply)).containsExactly(200, 404, 400, 410, 200, 200, 400, 404);
    assertThat(reply.body().at("/data/0/public_id"))
        .isEqualTo(client.get("/v1/legacy/order/7").body())
        .isEqualTo(reply.body().at("/data/4/public_id"));
    assertThat(reply.body().at("/data/5/public_id"))
        .isEqualTo(client.get("/v1/legacy/order/81").body());
    assertThat(reply.text("/data/1/error/code")).isEqualTo("legacy_id_unknown");
    assertThat(reply.text("/data/1/error/param")).isEqualTo("legacy_ids[1]");
    assertThat(reply.text("/data/2/error/code")).isEqualTo("legacy_id_malformed");
    assertThat(reply.text("/data/3/error/code")).isEqualTo("public_id_revoked");
  }

  @Test
  void aBatchOfLegacyIdsHasAThousandAtMost() {
    TestClient hostile = client.hostile();
    assertThat(resolveAll(client, Collections.nCopies(1_000, "7")).status()).isEqualTo(200);
    assertProblem(
        resolveAll(hostile, Collections.nCopies(1_001, "1")), "413 payload_too_large legacy_ids");
    assertProblem(resolveAll(hostile, List.of()), "400 field_invalid legacy_ids");
    assertProblem(resolveAll(hostile, List.of(1)), "400 field_invalid legacy_ids[0]");
    assertProblem(
        client.post("/v1/legacy/resolve", json("type", "nothing", "legacy_ids", List.of("1"))),
        "404 type_unknown type");
  }

  private static Reply resolveAll(TestClient as, List<?> numbers) {
    return as.post("/v1/legacy/resolve", json("type", "order", "legacy_ids", numbers));
  }

  @Test
  void everyLookUpThatFoundSomethingIsCounted() {
    client.put(
        TestType.of("counted", "cnt").with("url_templates", List.of("/counted/{legacy:counted}")));
    client.mint("counted", "legacy_id", "1");
    client.mint("counted", "legacy_id", "2");

    resolve("/counted/1");
    resolve("/counted/3");
    client.post(
        "/v1/urls/resolve", json("urls", List.of("/counted/1", "/counted/1", "/counted/2")));
    client.post(
        "/v1/legacy/resolve", json("type", "counted", "legacy_ids", List.of("1", "2", "2", "3")));

    await().untilAsserted(() -> assertThat(client.legacyHits("counted")).isEqualTo(1 + 3 + 3));
  }

  /** What is looked up is as it is at this moment, also after the type lost its templates. */
  @Test
  void templatesComeAndGoWithTheType() {
    TestType type = TestType.of("brief", "bri");
    client.put(type);
    client.mint("brief", "key", "9", "legacy_id", "3");
    assertThat(resolve("/brief/3").text("/resolved")).isEqualTo("/brief/3");

    client.put(type.with("url_templates", List.of("/brief/{legacy:brief}")));
    assertThat(resolve("/brief/3").text("/resolved")).isEqualTo("/brief/9");

    client.putConfirmed(type);
    assertThat(resolve("/brief/3").text("/resolved")).isEqualTo("/brief/3");
  }

  private static List<Integer> statuses(Reply reply) {
    return reply
        .body()
        .at("/data")
        .valueStream()
        .map(item -> item.at("/status").intValue())
        .toList();
  }

  private static Reply resolve(String url) {
    return client.resolveUrl(url);
  }

  private static Reply resolveHostile(String url) {
    return client.hostile().resolveUrl(url);
  }

  private static String filled(String row) {
    return Placeholders.fill(row, Map.of("ORD", order, "CUS", customer, "UUID", UUID));
  }
}
