package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.core.formats.Inspector;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.scheme.SnoId;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** New keys, for the present and for given times, and the workers and the fence behind them. */
class KeyRoutesTest {
  /** Keys carry the database's time, and the other end of a window of 3 s at most. */
  private static final Duration CLOCKS_APART_MAX = Duration.ofSeconds(5);

  private static final String AT = "2024-06-30T14:00:00.123+02:00";
  private static final Instant TIME = Instant.parse("2024-06-30T12:00:00.123Z");

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static final TestClient CLIENT = GATEWAY.client();

  @Test
  void aBatchOfSnowflakesIsUniqueAndRising() {
    Reply reply = keys(json("scheme", "snowflake", "count", 16384));
    List<Long> keys =
        reply.body().at("/keys").valueStream().map(key -> Long.valueOf(key.stringValue())).toList();

    assertThat(keys).hasSize(16_384).isSorted().doesNotHaveDuplicates();
    if (reply.body().has("first")) {
      assertThat(reply.text("/first")).isEqualTo(keys.getFirst().toString());
      assertThat(reply.body().at("/count").intValue()).isEqualTo(16_384);
    }
  }

  @Test
  void aSmallBatchIsARunThatFirstAndCountStandFor() {
    Reply reply = keys(json("scheme", "snowflake", "count", 5));
    long first = Long.parseLong(reply.text("/first"));

    assertThat(reply.body().at("/keys").valueStream().map(key -> key.stringValue()))
        .containsExactly(
            "" + first, "" + (first + 1), "" + (first + 2), "" + (first + 3), "" + (first + 4));
  }

  @ParameterizedTest
  @CsvSource({
    "uuidv7, [0-9a-f-]{36}",
    "ulid, [0-7][0-9A-HJKMNP-TV-Z]{25}",
    "ksuid, [0-9A-Za-z]{27}"
  })
  void textsRiseTooAndCarryAGivenTime(String scheme, String shape) {
    List<String> present = texts(json("scheme", scheme, "count", 16_384));
    List<String> past = texts(json("scheme", scheme, "count", 9, "at", "2024-01-01T00:00:00Z"));

    assertThat(present).hasSize(16_384).isSorted().doesNotHaveDuplicates();
    assertThat(present).allMatch(text -> text.matches(shape));
    assertThat(past).hasSize(9).isSorted().doesNotHaveDuplicates();
    assertThat(past.getLast()).isLessThan(present.getFirst());
    assertThat(texts(json("scheme", scheme, "count", 1)).getFirst())
        .as("a given time leaves the present alone")
        .isGreaterThan(present.getLast());
  }

  private static List<String> texts(String body) {
    return keys(body).body().at("/keys").valueStream().map(key -> key.stringValue()).toList();
  }

  @Test
  void everyLayoutHasAWorkerOfItsOwnAndKeysOfTheTimeThatIsAskedFor() {
    List<String> names =
        List.of("default", "twitter", "wide-sequence", "regional", "40/10/13@1700000000000");
    for (String name : names) {
      SnowflakeLayout layout = SnowflakeLayout.accepted(name);
      Instant before = Instant.now();
      List<Long> present = numbers(name, 1, null);
      List<Long> dated = numbers(name, 3, AT);

      assertThat(layout.timeOf(present.getFirst()))
          .isBetween(before.minus(CLOCKS_APART_MAX), Instant.now().plus(CLOCKS_APART_MAX));
      assertThat(dated).hasSize(3).isSorted().doesNotHaveDuplicates();
      assertThat(dated).allMatch(key -> layout.timeOf(key).equals(TIME));
      assertThat(numbers(name, 3, AT)).doesNotContainAnyElementsOf(dated);
    }
    assertThat(CLIENT.get("/v1/workers").body().at("/data").findValuesAsString("layout"))
        .containsAll(names);
  }

  @Test
  void aTypeThatIsPutFindsAWorkerOfItsLayout() {
    try (GatewayFixture fresh = GatewayFixture.own()) {
      fresh.client().put(TestType.of("tweet", "tw").with("layout", "twitter"));

      Awaitility.await()
          .until(
              () ->
                  fresh
                      .client()
                      .get("/v1/workers")
                      .body()
                      .at("/data")
                      .findValuesAsString("layout")
                      .contains("twitter"));
    }
  }

  private static List<Long> numbers(String layout, int count, @Nullable String at) {
    return texts(json("scheme", "snowflake", "layout", layout, "count", count, "at", at)).stream()
        .map(Long::valueOf)
        .toList();
  }

  /** More than a tick of a second has: a draw that has begun waits for the next tick. */
  @ParameterizedTest
  @CsvSource({
    "39x10/s8/16@1735689600000, 2025-03-04T05:06:07.890Z",
    "29x1000/21/13@1463673600000, 2025-03-04T05:06:07Z",
    "39x4/4/s12/8@1672531200000, 2025-03-04T05:06:07.892Z"
  })
  void keysOfLongTicksAndOtherOrdersAreUniqueAndRise(String name, Instant tick) {
    SnowflakeLayout layout = SnowflakeLayout.accepted(name);
    List<Long> keys = new ArrayList<>(numbers(name, 10_000, null));
    keys.addAll(numbers(name, 100, null));

    assertThat(keys).isSorted().doesNotHaveDuplicates();
    assertThat(keys.stream().map(layout::workerOf).distinct()).hasSize(1);
    assertThat(layout.timeOf(keys.getLast()))
        .isBetween(Instant.now().minusSeconds(10), Instant.now().plus(CLOCKS_APART_MAX));
    assertThat(numbers(name, 2, "2025-03-04T05:06:07.893Z"))
        .doesNotHaveDuplicates()
        .allMatch(key -> layout.timeOf(key).equals(tick));
  }

  @Test
  void theWorkersSayWhoHoldsThem() {
    Reply reply = CLIENT.get("/v1/workers");

    assertThat(reply.text("/data/0/status")).isEqualTo("held");
    assertThat(reply.text("/data/0/holder")).endsWith("/" + ProcessHandle.current().pid());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"scheme":"snowflake","count":0} | count
          {"scheme":"snowflake","count":-1} | count
          {"scheme":"snowflake","count":16385} | count
          {"scheme":"snowflake","count":99999999999} | count
          {"scheme":"snowflake","count":"1"} | count
          {"scheme":"snowflake"} | count
          {"scheme":"sonyflake","count":1} | scheme
          {"count":1} | scheme
          {"scheme":"snowflake","layout":"nothing","count":1} | layout
          {"scheme":"snowflake","layout":"41/10/13@0","count":1} | layout
          {"scheme":"snowflake","layout":"41/0/22@0","count":1} | layout
          {"scheme":"snowflake","layout":"41/10/12@99999999999999","count":1} | layout
          {"scheme":"snowflake","layout":"30/11/22@0","count":1} | layout
          {"scheme":"uuidv7","layout":"twitter","count":1} | layout
          {"scheme":"ulid","layout":"default","count":1} | layout
          {"scheme":"ulid","count":0} | count
          {"scheme":"ksuid","count":1,"at":"2014-05-13T16:53:19Z"} | at
          {"scheme":"ulid","count":1,"at":"9998-01-01T00:00:00Z"} | at
          {"scheme":"snowflake","count":1,"at":"yesterday"} | at
          {"scheme":"snowflake","count":1,"at":7} | at
          {"scheme":"snowflake","count":1,"at":"2024-01-01"} | at
          {"scheme":"snowflake","count":1,"at":"2022-12-31T23:59:59.999Z"} | at
          {"scheme":"snowflake","count":1,"at":"9998-01-01T00:00:00Z"} | at
          {"scheme":"uuidv7","count":1,"at":"9998-01-01T00:00:00Z"} | at
          {"scheme":"uuidv7","count":1,"at":"1969-12-31T23:59:59Z"} | at
          {"scheme":"snowflake","layout":"41/2/20@0","count":1,"at":"2024-01-01T00:00:00Z"} | at
          {"scheme":"snowflake","count":16385,"at":"2024-01-01T00:00:00Z"} | count
          {"scheme":"sno","count":1,"metabyte":256} | metabyte
          {"scheme":"sno","count":1,"metabyte":-1} | metabyte
          {"scheme":"rocketmq","count":1,"metabyte":0} | metabyte
          {"scheme":"snowflake","count":1,"metabyte":0} | metabyte
          """)
  void aBadRequestNamesItsField(String body, String param) {
    Reply reply = CLIENT.hostile().post("/v1/keys", body);

    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.text("/param")).isEqualTo(param);
  }

  @Test
  void aTypeKeepsItsLayout() {
    Instant before = Instant.now();
    String body = json("prefix", "tw", "key", "bigint", "layout", "%s");
    assertThat(CLIENT.put("/v1/types/tweet", body.formatted("twitter")).text("/layout"))
        .isEqualTo("twitter");

    Reply refused = CLIENT.put("/v1/types/tweet", body.formatted("default"));

    assertThat(refused.status()).isEqualTo(409);
    assertThat(refused.text("/param")).isEqualTo("layout");
    Awaitility.await().until(() -> CLIENT.mint("tweet").status() == 201);
    String key = CLIENT.get("/v1/ids?type=tweet").text("/data/0/key");
    assertThat(SnowflakeLayout.TWITTER.timeOf(Long.parseLong(key)))
        .isBetween(before.minus(CLOCKS_APART_MAX), Instant.now().plus(CLOCKS_APART_MAX));
  }

  @Test
  void theListIsCutByTheTimeInTheKey() {
    CLIENT.put(TestType.of("log", "log"));
    for (String time : List.of("2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z")) {
      long key =
          SnowflakeLayout.DEFAULT.key(
              SnowflakeLayout.DEFAULT.position(Instant.parse(time).toEpochMilli()), 1);
      CLIENT.mint("log", "key", String.valueOf(key));
    }

    assertThat(count("created_after=2023-12-31T23:59:59.999Z")).isEqualTo(2);
    assertThat(count("created_after=2024-01-01T00:00:00Z")).isEqualTo(1);
    assertThat(count("created_before=2025-01-01T00:00:00Z")).isEqualTo(1);
    assertThat(count("created_after=2024-01-01T00:00:00Z&created_before=2025-01-01T00:00:00Z"))
        .isZero();
    assertThat(count("created_before=1999-01-01T00:00:00Z")).isZero();
    for (String bad : List.of("yesterday", "2024-01-01", "1969-01-01T00:00:00Z", "")) {
      assertThat(CLIENT.hostile().get("/v1/ids?type=log&created_after=" + bad).status())
          .as(bad)
          .isEqualTo(400);
    }
  }

  @Test
  void anInstanceMakesNoKeysOutsideOfItsRanges() {
    try (GatewayFixture limited =
        GatewayFixture.own("COATCHECK_WORKERS", "default=520-600, wide-sequence=250-253")) {
      assertThat(workerOf(limited, SnowflakeLayout.DEFAULT)).isBetween(520, 600);
      assertThat(workerOf(limited, SnowflakeLayout.WIDE_SEQUENCE)).isBetween(250, 253);
      TestClient caller = limited.client();
      String code = "no_worker_range";
      assertNoWorkerRange(
          caller.refused(code, once -> once.post("/v1/keys", oneKey(SnowflakeLayout.REGIONAL))),
          "regional");
      assertThat(caller.get("/v1/workers").body().at("/data").findValuesAsString("layout"))
          .containsOnly("default", "wide-sequence");
      String atGivenTime = json("scheme", "snowflake", "count", 1, "at", AT);
      Reply dated = caller.refused(code, once -> once.post("/v1/keys", atGivenTime));
      assertThat(dated.status()).isEqualTo(503);
      assertThat(dated.text("/detail"))
          .contains("none of the workers that make keys for given times: 127, 255,");

      limited.client().put(TestType.of("tweet", "tw").with("layout", "twitter"));
      assertNoWorkerRange(caller.refused(code, once -> once.mint("tweet")), "twitter");
      String two = json("type", "tweet", "count", 2);
      assertNoWorkerRange(caller.refused(code, once -> once.post("/v1/ids/batch", two)), "twitter");
      String file = "type,legacy_id\ntweet,1\n";
      assertNoWorkerRange(
          caller
              .with("Content-Type", "text/csv")
              .refused(code, once -> once.post("/v1/imports", file)),
          "twitter");
      assertThat(limited.client().mint("tweet", "key", "7").status()).isEqualTo(201);
    }
  }

  @Test
  void anInstanceWithOnlyTheWorkerForGivenTimesMakesNoOtherKeys() {
    try (GatewayFixture only = GatewayFixture.own("COATCHECK_WORKERS", "1021-1021")) {
      Reply dated =
          only.client().post("/v1/keys", json("scheme", "snowflake", "count", 1, "at", AT));
      Reply present =
          only.client()
              .refused(
                  "no_worker_range",
                  once -> once.post("/v1/keys", json("scheme", "snowflake", "count", 1)));

      assertThat(dated.status()).isEqualTo(200);
      assertThat(present.status()).isEqualTo(503);
    }
  }

  /** Asked again it would say the same: a larger range helps, or another instance. */
  @Test
  void anInstanceWithOneWorkerKeepsItAndSaysSoToClients() {
    try (GatewayFixture one = GatewayFixture.own("COATCHECK_WORKERS", "7-7")) {
      Reply lease =
          one.client()
              .refused(
                  "no_worker_range", once -> once.post("/v1/leases", json("holder", "shop-1")));

      assertThat(lease.status()).isEqualTo(503);
      assertThat(lease.text("/detail"))
          .contains("one worker of the layout default", "larger range in COATCHECK_WORKERS");
      assertThat(workerOf(one, SnowflakeLayout.DEFAULT)).isEqualTo(7);
    }
  }

  @Test
  void theKeysOfAnInstanceTellItsPlace() {
    try (GatewayFixture here = GatewayFixture.own("COATCHECK_REGION", "2/1")) {
      int worker = workerOf(here, SnowflakeLayout.REGIONAL);

      assertThat(worker >> 7).as("region").isEqualTo(2);
      assertThat((worker >> 4) & 7).as("datacentre").isEqualTo(1);
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

      Reply fenced = caller.refused("keys_fenced", once -> once.post("/v1/keys", body));
      assertThat(fenced.status()).isEqualTo(503);
      TestClient sender = caller.with("Content-Type", "text/csv");
      String file = "type,legacy_id,created_at\ncharge,1,2024-01-01T00:00:00Z\n";
      assertThat(sender.refused("keys_fenced", once -> once.post("/v1/imports", file)).status())
          .isEqualTo(503);
      assertThat(caller.post("/v1/keys", json("scheme", "snowflake", "count", 1)).status())
          .isEqualTo(200);

      for (String unnamed : List.of(json("advance", 5), json("advance", 5, "dated_worker", 1))) {
        Reply refused = caller.hostile().post("/v1/keys/fence", unnamed);
        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.text("/detail")).contains("greater than 1, the last");
      }
      Reply lifted = caller.post("/v1/keys/fence", json("advance", 5, "dated_worker", 2));
      assertThat(lifted.body().at("/was_closed").booleanValue()).isTrue();
      assertThat(lifted.body().at("/dated_worker").intValue()).isEqualTo(2);
      long after = Long.parseLong(caller.post("/v1/keys", body).text("/keys/0"));
      assertThat(SnowflakeLayout.DEFAULT.workerOf(Long.parseLong(before))).isEqualTo(1_021);
      assertThat(SnowflakeLayout.DEFAULT.workerOf(after)).isEqualTo(895);
      assertThat(sender.post("/v1/imports", file).status()).isEqualTo(200);
      Reply again = caller.post("/v1/keys/fence", json("advance", 7));
      assertThat(again.body().at("/was_closed").asBoolean()).isFalse();
      assertThat(again.body().at("/advance").intValue()).isEqualTo(5);
    }
  }

  @Test
  void whenNoWorkerIsLeftKeysOfGivenTimesAreRefusedAndAllOtherKeysGoOn() {
    try (GatewayFixture failedOver = GatewayFixture.own()) {
      TestClient caller = failedOver.client();
      caller.put(TestType.of("charge", "ch"));
      caller.put("/v1/segments/invoice", json("start", "1"));
      failedOver.execute("update coatcheck.key_fence set timeline = timeline - 1");
      Reply _ = caller.post("/v1/keys/fence", json("advance", 5, "dated_worker", 9));

      String noneLeft = "no_dated_worker_left";
      Reply spent =
          caller.refused(
              noneLeft,
              once -> once.post("/v1/keys", json("scheme", "snowflake", "count", 1, "at", AT)));
      assertThat(spent.status()).isEqualTo(503);
      String file = "type,legacy_id,created_at\ncharge,1,2024-01-01T00:00:00Z\n";
      Reply imported =
          caller
              .with("Content-Type", "text/csv")
              .refused(noneLeft, once -> once.post("/v1/imports", file));
      assertThat(imported.status()).isEqualTo(503);
      assertThat(
              caller
                  .post("/v1/keys", json("scheme", "segment", "tag", "invoice", "count", 1))
                  .text("/keys/0"))
          .isEqualTo("6");
      assertThat(caller.mint("charge").status()).isEqualTo(201);
    }
  }

  @Test
  void onlyAKeyThatMayDoAllLiftsTheFence() {
    TestClient writer = GATEWAY.clientWith(Scope.KEYS_WRITE);

    assertThat(writer.post("/v1/keys/fence", json("advance", 0)).status()).isEqualTo(403);
    for (String bad :
        List.of(
            "{}",
            "{\"advance\":-1}",
            "{\"advance\":1000000001}",
            "{\"advance\":0,\"dated_worker\":0}",
            "{\"advance\":0,\"dated_advance\":0}")) {
      assertThat(CLIENT.hostile().post("/v1/keys/fence", bad).status()).as(bad).isEqualTo(400);
    }
  }

  @Test
  void snosCarryTheMetabyteAndTheLeasedWorkerAndRise() {
    List<SnoId> snos =
        texts(json("scheme", "sno", "count", 16_384, "metabyte", 77)).stream()
            .map(text -> SnoId.parse(text).orElseThrow())
            .toList();

    assertThat(snos.stream().map(SnoId::toString))
        .hasSize(16_384)
        .isSorted()
        .doesNotHaveDuplicates();
    assertThat(snos).allMatch(id -> id.metabyte() == 77 && !id.isTock() && id.partition() < 254);
    assertThat(Duration.between(snos.getFirst().time(), Instant.now()).abs())
        .isLessThan(CLOCKS_APART_MAX);
    assertThat(SnoId.parse(keys(json("scheme", "sno", "count", 1)).text("/keys/0")))
        .hasValueSatisfying(id -> assertThat(id.metabyte()).isZero());
  }

  @Test
  void snosAndIdentifiersOfRocketMqCarryAGivenTimeToo() {
    String sno = json("scheme", "sno", "count", 10_000, "metabyte", 77, "at", AT);
    List<SnoId> snos = new ArrayList<>();
    List<String> messages = new ArrayList<>();
    for (int call = 0; call < 3; call++) {
      texts(sno).forEach(text -> snos.add(SnoId.parse(text).orElseThrow()));
      messages.addAll(texts(json("scheme", "rocketmq", "count", 10_000, "at", AT)));
    }

    assertThat(snos).hasSize(30_000).doesNotHaveDuplicates();
    assertThat(snos)
        .allMatch(
            id ->
                id.metabyte() == 77
                    && id.time().isAfter(TIME.minusMillis(4))
                    && id.time().isBefore(TIME.plusMillis(8)));
    assertThat(messages).hasSize(30_000).doesNotHaveDuplicates();
    Instant second = TIME.truncatedTo(ChronoUnit.SECONDS);
    assertThat(messages)
        .allMatch(
            id ->
                Inspector.inspect(id, List.of(), Instant.now()).candidates().stream()
                    .anyMatch(read -> read.time().equals(Optional.of(second))));
    assertThat(refused(json("scheme", "sno", "count", 1, "at", "2009-12-31T00:00:00Z")))
        .contains("begins at 2010-01-01T00:00:00Z");
  }

  private static String refused(String body) {
    Reply reply = CLIENT.hostile().post("/v1/keys", body);
    assertThat(reply.status()).isEqualTo(400);
    return reply.text("/detail");
  }

  @Test
  void identifiersOfRocketMqAreUniqueAndRise() {
    List<String> ids = texts(json("scheme", "rocketmq", "count", 1_000));

    assertThat(ids).hasSize(1_000).isSorted().doesNotHaveDuplicates();
    assertThat(ids).allMatch(id -> id.startsWith("0102636F6174"));
  }

  private static void assertNoWorkerRange(Reply reply, String layout) {
    assertThat(reply.status()).isEqualTo(503);
    assertThat(reply.text("/code")).isEqualTo("no_worker_range");
    assertThat(reply.text("/detail")).contains("no range for the layout " + layout + ".");
  }

  private static int workerOf(GatewayFixture gateway, SnowflakeLayout layout) {
    Reply reply =
        Awaitility.await()
            .until(
                () -> gateway.client().post("/v1/keys", oneKey(layout)),
                answer -> answer.status() == 200);
    return layout.workerOf(Long.parseLong(reply.text("/keys/0")));
  }

  private static String oneKey(SnowflakeLayout layout) {
    return json("scheme", "snowflake", "layout", layout.name(), "count", 1);
  }

  private static int count(String query) {
    return CLIENT.get("/v1/ids?type=log&" + query).body().at("/data").size();
  }

  /** The first draw of a layout may come before its worker. */
  private static Reply keys(String body) {
    return Awaitility.await()
        .until(() -> CLIENT.post("/v1/keys", body), reply -> reply.status() == 200);
  }
}
