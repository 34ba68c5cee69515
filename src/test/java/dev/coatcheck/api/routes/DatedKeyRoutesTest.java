package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Keys for given times, and the fence before them. */
class DatedKeyRoutesTest {
  private static final String AT = "2024-06-30T14:00:00.123+02:00";
  private static final Instant TIME = Instant.parse("2024-06-30T12:00:00.123Z");

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static TestClient client;

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
  }

  @Test
  void keysOfEveryLayoutCarryTheTimeThatIsAskedFor() {
    for (String name :
        List.of("default", "twitter", "wide-sequence", "regional", "40/10/13@1700000000000")) {
      SnowflakeLayout layout = SnowflakeLayout.accepted(name);
      List<Long> keys =
          keys(json("scheme", "snowflake", "layout", name, "count", 3, "at", AT)).stream()
              .map(Long::valueOf)
              .toList();

      assertThat(keys).hasSize(3).isSorted().doesNotHaveDuplicates();
      assertThat(keys).allMatch(key -> layout.timeOf(key).equals(TIME));
    }
  }

  @Test
  void keysOfLongTicksCarryTheTickOfTheTimeThatIsAskedFor() {
    String name = "29x1000/21/13@1463673600000";
    List<String> keys =
        keys(
            json(
                "scheme",
                "snowflake",
                "layout",
                name,
                "count",
                2,
                "at",
                "2025-03-04T05:06:07.89Z"));

    assertThat(keys).hasSize(2).doesNotHaveDuplicates();
    assertThat(keys)
        .allSatisfy(
            key ->
                assertThat(SnowflakeLayout.accepted(name).timeOf(Long.parseLong(key)))
                    .isEqualTo("2025-03-04T05:06:07Z"));
  }

  @Test
  void repeatedCallsGetOtherKeys() {
    Set<String> seen = new HashSet<>();
    for (int call = 0; call < 5; call++) {
      seen.addAll(keys(json("scheme", "snowflake", "count", 2_000, "at", "2024-01-01T00:00:00Z")));
    }
    assertThat(seen).hasSize(10_000);
  }

  @Test
  void uuidsCarryItToo() {
    List<String> keys = keys(json("scheme", "uuidv7", "count", 100, "at", AT));
    String millis = "%012x".formatted(TIME.toEpochMilli());

    assertThat(keys).hasSize(100).isSorted().doesNotHaveDuplicates();
    assertThat(keys).allMatch(key -> key.replace("-", "").startsWith(millis + "7"));
  }

  @Test
  void nullIsThePresent() {
    String key = keys("{\"scheme\":\"snowflake\",\"count\":1,\"at\":null}").getFirst();

    assertThat(SnowflakeLayout.DEFAULT.timeOf(Long.parseLong(key)))
        .isAfter(Instant.now().minus(Duration.ofMinutes(5)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"scheme":"snowflake","count":1,"at":"yesterday"} | at
          {"scheme":"snowflake","count":1,"at":7} | at
          {"scheme":"snowflake","count":1,"at":"2024-01-01"} | at
          {"scheme":"snowflake","count":1,"at":"2022-12-31T23:59:59.999Z"} | at
          {"scheme":"snowflake","count":1,"at":"9998-01-01T00:00:00Z"} | at
          {"scheme":"uuidv7","count":1,"at":"9998-01-01T00:00:00Z"} | at
          {"scheme":"uuidv7","count":1,"at":"1969-12-31T23:59:59Z"} | at
          {"scheme":"snowflake","layout":"41/2/20@0","count":1,"at":"2024-01-01T00:00:00Z"} | at
          {"scheme":"snowflake","count":16385,"at":"2024-01-01T00:00:00Z"} | count
          """)
  void aBadRequestNamesItsField(String body, String param) {
    Reply reply = client.hostile().post("/v1/keys", body);

    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.text("/param")).isEqualTo(param);
  }

  @Test
  void anInstanceWhoseRangeLeavesTheWorkerOutSaysSo() {
    try (GatewayFixture limited = GatewayFixture.own("COATCHECK_WORKERS", "0-1020")) {
      Reply reply =
          limited
              .client()
              .once()
              .post("/v1/keys", json("scheme", "snowflake", "count", 1, "at", AT));

      assertThat(reply.status()).isEqualTo(503);
      assertThat(reply.text("/code")).isEqualTo("no_worker_range");
      assertThat(reply.text("/detail")).contains("worker 1021");
    }
  }

  @Test
  void anInstanceWithOnlyTheWorkerForGivenTimesMakesNoOtherKeys() {
    try (GatewayFixture only = GatewayFixture.own("COATCHECK_WORKERS", "1021-1021")) {
      Reply dated =
          only.client().post("/v1/keys", json("scheme", "snowflake", "count", 1, "at", AT));
      Reply present =
          only.client().once().post("/v1/keys", json("scheme", "snowflake", "count", 1));

      assertThat(dated.status()).isEqualTo(200);
      assertThat(present.text("/code")).isEqualTo("no_worker_range");
    }
  }

  @Test
  void afterAFailoverKeysAndImportsWaitUntilTheFenceIsLifted() {
    try (GatewayFixture failedOver = GatewayFixture.own()) {
      TestClient caller = failedOver.client();
      String body = json("scheme", "snowflake", "count", 10, "at", AT);
      String before = caller.post("/v1/keys", body).text("/keys/0");
      caller.put(TestType.of("charge", "ch"));
      failedOver.execute("update coatcheck.key_fence set timeline = timeline - 1");

      Reply fenced = caller.once().post("/v1/keys", body);
      assertThat(fenced.status()).isEqualTo(503);
      assertThat(fenced.text("/code")).isEqualTo("keys_fenced");
      TestClient sender = caller.once().with("Content-Type", "text/csv");
      String file = "type,legacy_id,created_at\ncharge,1,2024-01-01T00:00:00Z\n";
      assertThat(sender.post("/v1/imports", file).text("/code")).isEqualTo("keys_fenced");
      assertThat(caller.post("/v1/keys", json("scheme", "snowflake", "count", 1)).status())
          .isEqualTo(200);

      Reply lifted = caller.post("/v1/keys/fence", json("advance", 5, "dated_advance", 20));
      assertThat(lifted.body().at("/was_closed").booleanValue()).isTrue();
      assertThat(lifted.body().at("/dated_advance").longValue()).isEqualTo(20);
      long after = Long.parseLong(caller.post("/v1/keys", body).text("/keys/0"));
      assertThat(after - Long.parseLong(before)).isEqualTo(30);
      assertThat(sender.post("/v1/imports", file).status()).isEqualTo(200);
      assertThat(
              caller
                  .post("/v1/keys/fence", json("advance", 0))
                  .body()
                  .at("/was_closed")
                  .asBoolean())
          .isFalse();
    }
  }

  @Test
  void onlyAKeyThatMayDoAllLiftsTheFence() {
    TestClient writer = GATEWAY.clientWith(Scope.KEYS_WRITE);

    assertThat(writer.post("/v1/keys/fence", json("advance", 0)).status()).isEqualTo(403);
    for (String bad : List.of("{}", "{\"advance\":-1}", "{\"advance\":1000000001}")) {
      assertThat(client.hostile().post("/v1/keys/fence", bad).status()).as(bad).isEqualTo(400);
    }
  }

  private static List<String> keys(String body) {
    Reply reply = client.post("/v1/keys", body);
    assertThat(reply.status()).isEqualTo(200);
    return reply.body().at("/keys").valueStream().map(key -> key.stringValue()).toList();
  }
}
