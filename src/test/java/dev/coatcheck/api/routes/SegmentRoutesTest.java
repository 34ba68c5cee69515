package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SegmentRoutesTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static final TestClient CLIENT = GATEWAY.client();

  @Test
  void aSegmentIsCreatedOnceAndCounts() {
    assertThat(CLIENT.put("/v1/segments/invoice", json("bits", 32, "step_min", 10)).status())
        .isEqualTo(201);
    assertThat(CLIENT.put("/v1/segments/invoice", json("bits", 32, "step_min", 20)).status())
        .isEqualTo(200);
    Reply reply = draw("invoice", 100);

    assertThat(numbers(reply)).isEqualTo(LongStream.rangeClosed(1, 100).boxed().toList());
    assertThat(reply.text("/scheme")).isEqualTo("segment");
    assertThat(reply.text("/first")).isEqualTo("1");
    assertThat(reply.body().at("/count").intValue()).isEqualTo(100);
    assertThat(CLIENT.get("/v1/segments").body().at("/data").findValuesAsString("tag"))
        .contains("invoice");
  }

  @Test
  void theWayOfCountingNeverChanges() {
    CLIENT.put("/v1/segments/odd", json("stride", 2));

    Reply refused = CLIENT.put("/v1/segments/odd", json("start", "2", "stride", 2));

    assertProblem(refused, "409 immutable_field start");
    assertThat(numbers(draw("odd", 3))).containsExactly(1L, 3L, 5L);
  }

  @Test
  void aSegmentThatEndsSaysSo() {
    CLIENT.put("/v1/segments/last", json("start", "2147483640", "bits", 32));

    assertThat(numbers(draw("last", 8))).endsWith(2_147_483_647L);
    Reply exhausted = CLIENT.post("/v1/keys", json("scheme", "segment", "tag", "last", "count", 1));
    assertThat(exhausted.status()).isEqualTo(409);
    assertThat(exhausted.text("/code")).isEqualTo("segment_exhausted");
  }

  /** Mints that look up a name first draw their numbers while they hold a connection. */
  @Test
  void namedMintsOnEveryConnectionGetTheirNumbers() throws Exception {
    try (GatewayFixture gateway =
            GatewayFixture.own(
                "COATCHECK_DATABASE_CONNECTIONS", "2", "COATCHECK_MINT_GROUPS", "2");
        ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      TestClient client = gateway.client().once();
      client.put("/v1/segments/bills", json("step_min", 1, "step_max", 1));
      client.put(TestType.of("bill", "bill").with("generate", "segment").with("tag", "bills"));
      List<Future<List<Integer>>> statuses =
          IntStream.range(0, 4)
              .mapToObj(caller -> callers.submit(() -> namedMints(client, caller)))
              .toList();

      for (Future<List<Integer>> each : statuses) {
        assertThat(each.get()).containsOnly(201);
      }
    }
  }

  private static List<Integer> namedMints(TestClient client, int caller) {
    return IntStream.range(0, 20)
        .mapToObj(i -> client.with("Idempotency-Key", "\"%d-%d\"".formatted(caller, i)))
        .map(named -> named.mint("bill").status())
        .toList();
  }

  @Test
  void noSegmentIsCreatedByItsUse() {
    Reply unknown =
        CLIENT.post("/v1/keys", json("scheme", "segment", "tag", "nothing", "count", 1));

    assertProblem(unknown, "404 segment_unknown tag");
  }

  @ParameterizedTest
  @ValueSource(strings = {"ulid", "ksuid"})
  void noTypeHasSuchKeys(String scheme) {
    Reply refused =
        CLIENT
            .hostile()
            .put("/v1/types/bill", json("prefix", "bill", "key", "uuid", "generate", scheme));

    assertProblem(refused, "400 field_invalid generate");
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
    Reply reply = CLIENT.hostile().post("/v1/keys", body);

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
    Reply reply = CLIENT.hostile().put("/v1/segments/bad", body);

    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.text("/param")).isEqualTo(param);
  }

  @Test
  void aTagHasItsAlphabet() {
    for (String tag : List.of("1", "Invoice", "in-voice", "x".repeat(64), "%00")) {
      assertThat(CLIENT.hostile().put("/v1/segments/" + tag, "{}").status()).as(tag).isEqualTo(400);
    }
  }

  private static Reply draw(String tag, int count) {
    Reply reply = CLIENT.post("/v1/keys", json("scheme", "segment", "tag", tag, "count", count));
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
