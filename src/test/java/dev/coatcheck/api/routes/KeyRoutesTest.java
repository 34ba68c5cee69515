package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.scheme.SnoId;
import dev.coatcheck.ids.registry.TestType;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KeyRoutesTest {
  /** Keys carry the database's time, and the other end of a window of 3 s at most. */
  private static final Duration CLOCKS_APART_MAX = Duration.ofSeconds(5);

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static TestClient client;

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
  }

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

  @Test
  void uuidsRiseToo() {
    Reply reply = keys(json("scheme", "uuidv7", "count", 1000));

    assertThat(reply.body().at("/keys").valueStream().map(key -> key.stringValue()).toList())
        .hasSize(1_000)
        .isSorted()
        .doesNotHaveDuplicates();
    assertThat(reply.body().has("first")).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"ulid, [0-7][0-9A-HJKMNP-TV-Z]{25}", "ksuid, [0-9A-Za-z]{27}"})
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
  void everyLayoutHasAWorkerOfItsOwn() {
    for (String layout :
        List.of("default", "twitter", "wide-sequence", "regional", "40/10/13@1700000000000")) {
      Instant before = Instant.now();
      long key =
          Long.parseLong(
              keys(json("scheme", "snowflake", "layout", layout, "count", 1)).text("/keys/0"));

      assertThat(SnowflakeLayout.accepted(layout).timeOf(key))
          .isBetween(before.minus(CLOCKS_APART_MAX), Instant.now().plus(CLOCKS_APART_MAX));
    }
    assertThat(client.get("/v1/workers").body().at("/data").findValuesAsString("layout"))
        .contains("default", "twitter", "wide-sequence", "regional", "40/10/13@1700000000000");
  }

  /** More than a tick of a second has: a draw that has begun waits for the next tick. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "39x10/s8/16@1735689600000",
        "29x1000/21/13@1463673600000",
        "39x4/4/s12/8@1672531200000"
      })
  void keysOfLongTicksAndOtherOrdersAreUniqueAndRise(String layout) {
    List<Long> keys = new ArrayList<>();
    for (int draw = 0; draw < 2; draw++) {
      texts(json("scheme", "snowflake", "layout", layout, "count", 10_000)).stream()
          .map(Long::valueOf)
          .forEach(keys::add);
    }

    assertThat(keys).isSorted().doesNotHaveDuplicates();
    SnowflakeLayout known = SnowflakeLayout.accepted(layout);
    assertThat(keys.stream().map(known::workerOf).distinct()).hasSize(1);
    assertThat(known.timeOf(keys.getLast()))
        .isBetween(Instant.now().minusSeconds(10), Instant.now().plus(CLOCKS_APART_MAX));
  }

  @Test
  void theWorkersSayWhoHoldsThem() {
    Reply reply = client.get("/v1/workers");

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
          """)
  void aBadRequestNamesItsField(String body, String param) {
    Reply reply = client.hostile().post("/v1/keys", body);

    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.text("/param")).isEqualTo(param);
  }

  @Test
  void aTypeKeepsItsLayout() {
    Instant before = Instant.now();
    String body = json("prefix", "tw", "key_scheme", "snowflake", "key_layout", "%s");
    assertThat(client.put("/v1/types/tweet", body.formatted("twitter")).text("/key_layout"))
        .isEqualTo("twitter");

    Reply refused = client.put("/v1/types/tweet", body.formatted("default"));

    assertThat(refused.status()).isEqualTo(409);
    assertThat(refused.text("/param")).isEqualTo("key_layout");
    Awaitility.await().until(() -> client.mint("tweet").status() == 201);
    String key = client.get("/v1/ids?type=tweet").text("/data/0/key");
    assertThat(SnowflakeLayout.TWITTER.timeOf(Long.parseLong(key)))
        .isBetween(before.minus(CLOCKS_APART_MAX), Instant.now().plus(CLOCKS_APART_MAX));
  }

  @Test
  void theListIsCutByTheTimeInTheKey() {
    client.put(TestType.of("log", "log"));
    for (String time : List.of("2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z")) {
      long key =
          SnowflakeLayout.DEFAULT.key(
              SnowflakeLayout.DEFAULT.position(Instant.parse(time).toEpochMilli()), 1);
      client.mint("log", "key", String.valueOf(key));
    }

    assertThat(count("created_after=2023-12-31T23:59:59.999Z")).isEqualTo(2);
    assertThat(count("created_after=2024-01-01T00:00:00Z")).isEqualTo(1);
    assertThat(count("created_before=2025-01-01T00:00:00Z")).isEqualTo(1);
    assertThat(count("created_after=2024-01-01T00:00:00Z&created_before=2025-01-01T00:00:00Z"))
        .isZero();
    assertThat(count("created_before=1999-01-01T00:00:00Z")).isZero();
    for (String bad : List.of("yesterday", "2024-01-01", "1969-01-01T00:00:00Z", "")) {
      assertThat(client.hostile().get("/v1/ids?type=log&created_after=" + bad).status())
          .as(bad)
          .isEqualTo(400);
    }
  }

  @Test
  void disjointRangesAreDisjointOnEveryLayout() {
    try (GatewayFixture one = GatewayFixture.own("COATCHECK_WORKERS", "300-400");
        GatewayFixture two =
            GatewayFixture.own("COATCHECK_WORKERS", "default=500-600, wide-sequence=250-253")) {
      assertThat(workerOf(one, SnowflakeLayout.DEFAULT)).isBetween(300, 400);
      assertThat(workerOf(two, SnowflakeLayout.DEFAULT)).isBetween(500, 600);
      assertThat(workerOf(two, SnowflakeLayout.WIDE_SEQUENCE)).isBetween(250, 253);
      assertNoWorkerRange(
          one.client().once().post("/v1/keys", oneKey(SnowflakeLayout.WIDE_SEQUENCE)),
          "wide-sequence");
      assertNoWorkerRange(
          two.client().once().post("/v1/keys", oneKey(SnowflakeLayout.REGIONAL)), "regional");
      assertThat(two.client().get("/v1/workers").body().at("/data").findValuesAsString("layout"))
          .containsOnly("default", "wide-sequence");
    }
  }

  @Test
  void snosCarryTheMetabyteAndTheLeasedWorkerAndRise() {
    List<SnoId> snos =
        keys(json("scheme", "sno", "count", 16_384, "metabyte", 77))
            .body()
            .at("/keys")
            .valueStream()
            .map(key -> SnoId.parse(key.stringValue()).orElseThrow())
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
  void identifiersOfRocketMqAreUniqueAndRise() {
    List<String> ids =
        keys(json("scheme", "rocketmq", "count", 1_000))
            .body()
            .at("/keys")
            .valueStream()
            .map(key -> key.stringValue())
            .toList();

    assertThat(ids).hasSize(1_000).isSorted().doesNotHaveDuplicates();
    assertThat(ids).allMatch(id -> id.startsWith("0102636F6174"));
  }

  @ParameterizedTest
  @CsvSource({"sno,256", "sno,-1", "rocketmq,0", "snowflake,0", "ulid,0"})
  void onlySnosHaveAMetabyteAndItIsAByte(String scheme, int metabyte) {
    Reply refused =
        client.hostile().post("/v1/keys", json("scheme", scheme, "count", 1, "metabyte", metabyte));

    assertThat(refused.status()).isEqualTo(400);
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
  void aTypeWhoseLayoutHasNoRangeTakesOnlyKeysThatAreBrought() {
    try (GatewayFixture limited = GatewayFixture.own("COATCHECK_WORKERS", "300-400")) {
      TestClient caller = limited.client().once();
      limited.client().put(TestType.of("tweet", "tw").with("key_layout", "twitter"));

      assertNoWorkerRange(caller.mint("tweet"), "twitter");
      assertNoWorkerRange(
          caller.post("/v1/ids/batch", json("type", "tweet", "count", 2)), "twitter");
      assertNoWorkerRange(
          caller.with("Content-Type", "text/csv").post("/v1/imports", "type,legacy_id\ntweet,1\n"),
          "twitter");
      assertThat(limited.client().mint("tweet", "key", "7").status()).isEqualTo(201);
    }
  }

  private static void assertNoWorkerRange(Reply reply, String layout) {
    assertThat(reply.status()).isEqualTo(503);
    assertThat(reply.text("/code")).isEqualTo("no_worker_range");
    assertThat(reply.text("/detail")).contains("no range for the layout " + layout + ".");
  }

  private static int workerOf(GatewayFixture GATEWAY, SnowflakeLayout layout) {
    Reply reply =
        Awaitility.await()
            .atMost(Duration.ofSeconds(30))
            .until(
                () -> GATEWAY.client().post("/v1/keys", oneKey(layout)),
                answer -> answer.status() == 200);
    return layout.workerOf(Long.parseLong(reply.text("/keys/0")));
  }

  private static String oneKey(SnowflakeLayout layout) {
    return json("scheme", "snowflake", "layout", layout.name(), "count", 1);
  }

  private static int count(String query) {
    return client.get("/v1/ids?type=log&" + query).body().at("/data").size();
  }

  /** The first draw of a layout may come before its worker. */
  private static Reply keys(String body) {
    return Awaitility.await()
        .until(() -> client.post("/v1/keys", body), reply -> reply.status() == 200);
  }
}
