package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is known of those who ask for old numbers. */
class LegacyWatchTest {
  @RegisterExtension
  static final GatewayFixture GATEWAY =
      GatewayFixture.own("COATCHECK_TRUSTED_PROXIES", "127.0.0.0/8");

  private static TestClient client;

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
    for (String type : List.of("charge", "order")) {
      client.put(
          TestType.of(type, type).with("legacy", Map.of()).redirect("https://shop.example/{id}"));
      client.mint(type, "legacy_id", "7");
    }
  }

  @Test
  void numbersThatWereFoundAreCountedPerDay() {
    TestClient anyone = client.anonymous();
    assertThat(client.get("/v1/legacy/order/7").status()).isEqualTo(200);
    assertThat(client.get("/v1/legacy/order/8").status()).isEqualTo(404);

    await()
        .until(
            () ->
                client.get("/v1/types/order/legacy-hits").body().at("/data/0/count").asLong() > 0);

    Reply hits = client.get("/v1/types/order/legacy-hits");
    assertThat(hits.body().at("/data")).hasSize(1);
    assertThat(hits.body().at("/data/0/count").asLong()).isEqualTo(1);
    String day = hits.text("/data/0/day");
    assertThat(
            client
                .get("/v1/types/order/legacy-hits?from=" + day + "&to=" + day)
                .body()
                .at("/data/0"))
        .isEqualTo(hits.body().at("/data/0"));
    assertThat(
            client
                .get("/v1/types/order/legacy-hits?from=2020-01-01&to=2020-12-31")
                .body()
                .at("/data"))
        .isEmpty();
    assertThat(anyone.get("/v1/types/order/legacy-hits").status()).isEqualTo(401);
    for (String query :
        List.of(
            "from=2020-02-30",
            "from=yesterday",
            "to=1",
            "from=2020-01-02&to=2020-01-01",
            "from=2020-01-01&to=2021-01-01",
            "day=2020-01-01")) {
      assertThat(client.hostile().get("/v1/types/order/legacy-hits?" + query).status())
          .as(query)
          .isEqualTo(400);
    }
    assertThat(client.get("/v1/types/nothing/legacy-hits").status()).isEqualTo(404);
  }

  @Test
  void whoGoesThroughTheNumbersIsRefusedForAWhile() {
    TestClient scanner = client.anonymous().with("X-Forwarded-For", "192.0.2.1");
    int asked = 0;
    Reply reply;
    do {
      asked++;
      reply = scanner.get("/legacy/charge/" + asked);
    } while (asked < 200 && reply.status() != 429);

    assertThat(asked).isEqualTo(41);
    assertThat(reply.text("/code")).isEqualTo("abnormal_usage_detected");
    assertThat(reply.text("/type"))
        .isEqualTo("https://iana.org/assignments/http-problem-types#abnormal-usage-detected");
    assertThat(reply.header("Retry-After")).isEqualTo("60");
    assertThat(reply.header("RateLimit-Policy")).isEqualTo("\"legacy\";q=40;w=60");
    assertThat(reply.header("RateLimit")).isEqualTo("\"legacy\";r=0;t=60");
    assertThat(reply.header("Cache-Control")).isEqualTo("no-store");

    for (String path : List.of("charge/7", "order/7", "nothing/7")) {
      assertThat(scanner.get("/legacy/" + path).status()).as(path).isEqualTo(429);
      assertThat(scanner.head("/legacy/" + path).status()).as(path).isEqualTo(429);
    }
    assertThat(
            scanner
                .with("X-Forwarded-For", "192.0.2.9, 192.0.2.1")
                .get("/legacy/charge/7")
                .status())
        .isEqualTo(429);
    assertThat(scanner.with("X-Forwarded-For", "192.0.2.9").get("/legacy/charge/7").status())
        .isEqualTo(308);
    assertThat(client.get("/v1/legacy/charge/7").status()).isEqualTo(200);
    assertThat(scanner.get("/r/ch_x").status()).isEqualTo(404);
  }
}
