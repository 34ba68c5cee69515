package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SegmentRoutesTest {
  private static List<GatewayFixture> gateways;
  private static TestClient client;

  @BeforeAll
  static void start() {
    gateways = GatewayFixture.sharing(2);
    client = gateways.getFirst().client();
  }

  @AfterAll
  static void stop() {
    gateways.forEach(GatewayFixture::close);
  }

  @Test
  void aSegmentIsCreatedOnceAndCounts() {
    assertThat(client.put("/v1/segments/invoice", json("bits", 32, "step_min", 10)).status())
        .isEqualTo(201);
    assertThat(client.put("/v1/segments/invoice", json("bits", 32, "step_min", 20)).status())
        .isEqualTo(200);
    Reply reply = draw(client, "invoice", 100);

    assertThat(numbers(reply)).isEqualTo(LongStream.rangeClosed(1, 100).boxed().toList());
    assertThat(reply.text("/scheme")).isEqualTo("segment");
    assertThat(reply.text("/first")).isEqualTo("1");
    assertThat(reply.body().at("/count").intValue()).isEqualTo(100);
    assertThat(client.get("/v1/segments").body().at("/data").findValuesAsString("tag"))
        .contains("invoice");
  }

  @Test
  void twoInstancesDrawOtherNumbers() {
    client.put("/v1/segments/order", json("step_min", 10, "step_max", 40));
    Set<Long> seen = new HashSet<>();
    for (int round = 0; round < 50; round++) {
      for (GatewayFixture gateway : gateways) {
        seen.addAll(numbers(draw(gateway.client(), "order", 7)));
      }
    }

    assertThat(seen).hasSize(50 * 2 * 7);
  }

  @Test
  void theWayOfCountingNeverChanges() {
    client.put("/v1/segments/odd", json("stride", 2));

    Reply refused = client.put("/v1/segments/odd", json("start", "2", "stride", 2));

    assertThat(refused.status()).isEqualTo(409);
    assertThat(refused.text("/code")).isEqualTo("immutable_field");
    assertThat(refused.text("/param")).isEqualTo("start");
    assertThat(numbers(draw(client, "odd", 3))).containsExactly(1L, 3L, 5L);
  }

  @Test
  void aSegmentThatEndsSaysSo() {
    client.put("/v1/segments/last", json("start", "2147483640", "bits", 32));

    assertThat(numbers(draw(client, "last", 8))).endsWith(2_147_483_647L);
    Reply exhausted = client.post("/v1/keys", json("scheme", "segment", "tag", "last", "count", 1));
    assertThat(exhausted.status()).isEqualTo(409);
    assertThat(exhausted.text("/code")).isEqualTo("segment_exhausted");
  }

  @Test
  void noSegmentIsCreatedByItsUse() {
    Reply unknown =
        client.post("/v1/keys", json("scheme", "segment", "tag", "nothing", "count", 1));

    assertThat(unknown.status()).isEqualTo(404);
    assertThat(unknown.text("/code")).isEqualTo("segment_unknown");
    assertThat(unknown.text("/param")).isEqualTo("tag");
  }

  @ParameterizedTest
  @ValueSource(strings = {"segment", "ulid", "ksuid"})
  void noTypeHasSuchKeys(String scheme) {
    Reply refused =
        client.hostile().put("/v1/types/bill", json("prefix", "bill", "key_scheme", scheme));

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.text("/param")).isEqualTo("key_scheme");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"scheme":"segment","count":1} | tag
          {"scheme":"segment","tag":"Invoice","count":1} | tag
          {"scheme":"segment","tag":"invoice","count":0} | count
          {"scheme":"segment","tag":"invoice","layout":"default","count":1} | layout
          {"scheme":"segment","tag":"invoice","at":"2024-01-01T00:00:00Z","count":1} | at
          {"scheme":"snowflake","tag":"invoice","count":1} | tag
          """)
  void aBadDrawNamesItsField(String body, String param) {
    Reply reply = client.hostile().post("/v1/keys", body);

    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.text("/param")).isEqualTo(param);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"start":"0"} | start
          {"start":1} | start
          {"start":"2147483648","bits":32} | start
          {"stride":0} | stride
          {"bits":33} | bits
          {"bits":16} | bits
          {"step_min":0} | step_min
          {"step_max":1000001} | step_max
          {"step_min":10,"step_max":9} | step_max
          {"tag":"x"} | tag
          """)
  void aBadDefinitionNamesItsField(String body, String param) {
    Reply reply = client.hostile().put("/v1/segments/bad", body);

    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.text("/param")).isEqualTo(param);
  }

  @Test
  void aTagHasItsAlphabet() {
    for (String tag : List.of("1", "Invoice", "in-voice", "x".repeat(64), "%00")) {
      assertThat(client.hostile().put("/v1/segments/" + tag, "{}").status()).as(tag).isEqualTo(400);
    }
  }

  private static Reply draw(TestClient from, String tag, int count) {
    Reply reply = from.post("/v1/keys", json("scheme", "segment", "tag", tag, "count", count));
    assertThat(reply.status()).isEqualTo(200);
    return reply;
  }

  private static List<Long> numbers(Reply reply) {
    return reply
        .body()
        .at("/keys")
        .valueStream()
        .map(key -> Long.valueOf(key.stringValue()))
        .toList();
  }
}
