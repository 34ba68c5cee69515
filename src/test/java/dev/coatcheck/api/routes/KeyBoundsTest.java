package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.ids.registry.TestType;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.node.BooleanNode;

class KeyBoundsTest {
  private static final SnowflakeLayout LAYOUT = SnowflakeLayout.DEFAULT;
  private static final String DAY = "from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z";

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static TestClient client;

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
    client.put(TestType.of("message", "msg").with("layout", "twitter"));
    client.put(TestType.of("user", "usr").with("key", "uuid"));
  }

  @Test
  void aTypeHasTheBoundsOfItsLayout() {
    Reply type = bounds("type=message&" + DAY);

    assertThat(type.text("/layout")).isEqualTo("twitter");
    assertThat(type.body()).isEqualTo(bounds("layout=twitter&" + DAY).body());
    assertThat(SnowflakeLayout.TWITTER.timeOf(Long.parseLong(type.text("/smallest"))))
        .isEqualTo("2026-11-20T00:00:00Z");
    assertThat(SnowflakeLayout.TWITTER.timeOf(Long.parseLong(type.text("/largest"))))
        .isEqualTo("2026-11-20T23:59:59.999Z");
  }

  @Test
  void aTimeThatNoKeyCanHaveIsAnEmptySpan() {
    for (String span :
        List.of(
            "from=2020-01-01T00:00:00Z&to=2023-01-01T00:00:00Z",
            "from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z",
            "from=9000-01-01T00:00:00Z&to=9001-01-01T00:00:00Z")) {
      Reply reply = bounds("layout=default&" + span);

      assertThat(reply.body().at("/empty").booleanValue()).as(span).isTrue();
      assertThat(reply.body().has("smallest")).isFalse();
      assertThat(reply.body().has("largest")).isFalse();
    }
    assertThat(
            bounds(
                    "layout=default&from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z&bucket_millis=1")
                .body()
                .at("/buckets")
                .size())
        .isZero();
  }

  @Test
  void bucketsAreListedFromTheNewestAndHoldWholeBuckets() {
    Reply reply = bounds("layout=default&" + DAY + "&bucket_millis=80000000");
    long newest = reply.body().at("/buckets/0/number").longValue();

    assertThat(reply.body().at("/buckets").findValuesAsString("number"))
        .containsExactly("" + newest, "" + (newest - 1));
    long begin = (newest * 80_000_000) << LAYOUT.timeShift();
    assertThat(reply.text("/buckets/0/smallest")).isEqualTo("" + begin);
    assertThat(reply.text("/buckets/0/largest"))
        .isEqualTo("" + (begin + (80_000_000L << LAYOUT.timeShift()) - 1));
    assertThat(bounds("type=user&" + DAY).text("/smallest"))
        .matches("0[0-9a-f]{7}-[0-9a-f]{4}-7000-8000-000000000000");
  }

  @Test
  void withoutAnEndTheSpanEndsNow() {
    Instant before = Instant.now();
    Reply reply = bounds("layout=default&from=2026-01-01T00:00:00Z&bucket_millis=864000000");

    assertThat(Instant.parse(reply.text("/to"))).isBetween(before, Instant.now());
    assertThat(Instant.parse(reply.text("/buckets/0/to"))).isAfter(before);
    assertThat(Instant.parse(reply.text("/buckets/0/from"))).isBefore(Instant.now());
  }

  @Test
  void aThousandBucketsAreListedAndNoMore() {
    String span =
        "layout=default&from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:01.00%dZ&bucket_millis=1";

    assertThat(bounds(span.formatted(0)).body().at("/buckets").size()).isEqualTo(1_000);
    Reply refused = client.hostile().get("/v1/keys/bounds?" + span.formatted(1));

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.text("/param")).isEqualTo("bucket_millis");
  }

  @ParameterizedTest
  @CsvSource({
    "from=2026-01-01T00:00:00Z, type",
    "type=message&layout=default&from=2026-01-01T00:00:00Z, type",
    "layout=nothing&from=2026-01-01T00:00:00Z, layout",
    "layout=default, from",
    "layout=default&from=yesterday, from",
    "layout=default&from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z, to",
    "layout=default&from=9000-01-02T00:00:00Z, from",
    "layout=default&from=2026-01-01T00:00:00Z&from_key=1, from_key",
    "layout=default&from_key=1&to=2026-01-01T00:00:00Z&to_key=1, to_key",
    "layout=default&from_key=01, from_key",
    "layout=default&from_key=9223372036854775807, from_key",
    "layout=default&from_key=-1, from_key",
    "layout=default&from_key=9223372036854775807&to_key=1, to_key",
    "type=user&from_key=0190163d-8694-4000-8000-000000000000, from_key",
    "type=user&from_key=42, from_key",
    "layout=default&from=2026-01-01T00:00:00Z&bucket_millis=0, bucket_millis",
    "layout=default&from=2026-01-01T00:00:00Z&bucket_millis=-1, bucket_millis",
    "layout=default&from=2026-01-01T00:00:00Z&bucket_millis=1000000000001, bucket_millis",
    "layout=default&from=2026-01-01T00:00:00Z&bucket_millis=1e3, bucket_millis",
  })
  void aBadRequestNamesItsParameter(String query, String param) {
    Reply reply = client.hostile().get("/v1/keys/bounds?" + query);

    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.text("/param")).isEqualTo(param);
  }

  @Test
  void anUnknownTypeIsNotFound() {
    assertThat(client.get("/v1/keys/bounds?type=nothing&" + DAY).text("/code"))
        .isEqualTo("type_unknown");
  }

  /** As Discord's make_buckets(start_id, end_id) does, whose last bucket is that of the end. */
  @Test
  void twoKeysAreEndsOfASpanAsWell() {
    SnowflakeLayout layout = SnowflakeLayout.DEFAULT;
    long day = 86_400_000;
    long first = layout.key(layout.position(layout.epochMillis() + day + 5) + 7, 3);
    long last = layout.key(layout.position(layout.epochMillis() + 3 * day), 900);
    String span = "layout=default&from_key=" + first + "&to_key=" + last;

    Reply reply = bounds(span + "&bucket_millis=" + day);

    assertThat(reply.body().at("/buckets").valueStream().map(each -> each.path("number").asLong()))
        .containsExactly(3L, 2L, 1L);
    assertThat(reply.text("/from")).isEqualTo("2023-01-02T00:00:00.005Z");
    assertThat(reply.text("/to")).isEqualTo("2023-01-04T00:00:00.001Z");
    assertThat(Long.parseLong(reply.text("/smallest"))).isLessThanOrEqualTo(first);
    assertThat(Long.parseLong(reply.text("/largest"))).isGreaterThanOrEqualTo(last);
    assertThat(bounds("layout=default&from_key=" + first + "&to_key=" + first).body().at("/empty"))
        .isEqualTo(BooleanNode.FALSE);
    assertThat(bounds("layout=default&from_key=" + first).status()).isEqualTo(200);
    assertThat(bounds("layout=default&from=2023-01-01T00:00:00Z&to_key=" + last).text("/to"))
        .isEqualTo("2023-01-04T00:00:00.001Z");
  }

  @Test
  void twoUuidsAreEndsOfASpanAsWell() {
    Reply reply =
        bounds(
            "type=user&from_key=017f22e2-79b0-7cc3-98c4-dc0c0c07398f"
                + "&to_key=017f22e2-79b1-7cc3-98c4-dc0c0c07398f");

    assertThat(reply.text("/smallest")).startsWith("017f22e2-79b0-7000");
    assertThat(reply.text("/largest")).startsWith("017f22e2-79b1-7fff");
  }

  private static Reply bounds(String query) {
    Reply reply = client.get("/v1/keys/bounds?" + query);
    assertThat(reply.status()).isEqualTo(200);
    return reply;
  }
}
