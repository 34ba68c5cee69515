package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.ids.registry.TestType;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Two types whose keys lie in different tables may have a token in common: an import may bring any.
 * What is done to one of such twins changes nothing about the other.
 */
class TwinsTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static final TestClient API = GATEWAY.client();

  /** Public IDs of the same token. */
  private record Twins(String charge, String person) {}

  @BeforeAll
  static void start() {
    API.put(TestType.of("charge", "ch").with("legacy", Map.of()));
    API.put(TestType.of("person", "usr").uuids().with("legacy", Map.of()));
  }

  @Test
  void eachTwinIsRevokedForItself() {
    Twins twins = twins();

    API.post("/v1/ids/" + twins.person() + "/revoke", json("reason", "person's"));

    assertThat(status(twins.person())).isEqualTo(410);
    assertThat(status(twins.charge())).isEqualTo(200);

    Reply revoked = API.post("/v1/ids/" + twins.charge() + "/revoke", json("reason", "charge's"));

    assertThat(revoked.text("/ended_reason")).isEqualTo("charge's");
    assertThat(API.get("/v1/ids/" + twins.charge()).text("/ended_reason")).isEqualTo("charge's");
    assertThat(API.get("/v1/ids/" + twins.person()).text("/ended_reason")).isEqualTo("person's");
  }

  @Test
  void eachTwinIsMergedForItself() {
    Twins twins = twins();
    Twins earlier = twins();
    String charge = API.mint("charge").text("/id");
    String person = API.mint("person").text("/id");
    merge(earlier.charge(), twins.charge());
    merge(earlier.person(), twins.person());

    merge(twins.charge(), charge);

    await().until(() -> survivor(earlier.charge()), charge::equals);
    assertThat(survivor(earlier.person())).isEqualTo(twins.person());
    assertThat(status(twins.person())).isEqualTo(200);

    merge(twins.person(), person);

    assertThat(survivor(twins.charge())).isEqualTo(charge);
    assertThat(survivor(twins.person())).isEqualTo(person);
    // What was merged earlier is heard of through the change feed.
    await().until(() -> survivor(earlier.person()), person::equals);

    API.post("/v1/ids/" + charge + "/revoke", "{}");

    await().until(() -> status(earlier.charge()) == 410);
    assertThat(survivor(earlier.person())).isEqualTo(person);
  }

  @Test
  void aBatchAndItsStrangersEndEachForItself() throws Exception {
    for (int round = 0; round < 5; round++) {
      Twins twins = twins();
      List<String> strangers =
          Stream.generate(() -> API.mint("charge").text("/id")).limit(3).toList();
      List<String> ended = Stream.concat(Stream.of(twins.charge()), strangers.stream()).toList();

      Reply batch =
          API.post(
              "/v1/ids/revoke",
              json("items", List.of(Map.of("id", twins.person()), Map.of("id", twins.charge()))));
      assertThat(batch.body().at("/data").findValuesAsString("status")).doesNotContain("409");
      // In one group: whoever comes while the first is under way shares a transaction.
      try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<Reply>> replies =
            Stream.concat(ended.stream(), Stream.of(twins.person()))
                .map(id -> callers.submit(() -> API.post("/v1/ids/" + id + "/revoke", "{}")))
                .toList();
        for (Future<Reply> reply : replies) {
          assertThat(reply.get().status()).isEqualTo(200);
        }
      }

      assertThat(ended).allSatisfy(id -> assertThat(status(id)).isEqualTo(410));
      assertThat(status(twins.person())).isEqualTo(410);
    }
  }

  @Test
  void twinsAndStrangersInOneGroupGetTheirOwnAnswers() throws Exception {
    for (int round = 0; round < 5; round++) {
      Twins twins = twins();
      String stranger = API.mint("charge").text("/id");
      try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<Reply>> replies =
            Stream.of(twins.charge(), twins.person(), stranger)
                .map(
                    id ->
                        callers.submit(
                            () -> API.post("/v1/ids/" + id + "/revoke", json("reason", id))))
                .toList();
        for (Future<Reply> reply : replies) {
          assertThat(reply.get().text("/ended_reason")).isEqualTo(reply.get().text("/id"));
        }
      }
    }
  }

  @Test
  void anAliasOfOneTwinLeadsToThatTwin() {
    Twins twins = twins();
    String legacyId = "77";
    alias(twins.charge(), legacyId);
    alias(twins.person(), legacyId);

    assertThat(API.mint("charge", "legacy_id", legacyId).text("/id")).isEqualTo(twins.charge());
    assertThat(API.mint("person", "legacy_id", legacyId).text("/id")).isEqualTo(twins.person());
    Reply both =
        API.post(
            "/v1/ids/batch",
            json(
                "items",
                List.of(
                    Map.of("type", "charge", "legacy_id", legacyId),
                    Map.of("type", "person", "legacy_id", legacyId))));
    assertThat(both.body().at("/data/0/public_id/id").stringValue()).isEqualTo(twins.charge());
    assertThat(both.body().at("/data/1/public_id/id").stringValue()).isEqualTo(twins.person());

    API.post("/v1/ids/" + twins.person() + "/revoke", "{}");

    assertThat(API.mint("charge", "legacy_id", legacyId).text("/id")).isEqualTo(twins.charge());
    assertThat(API.mint("person", "legacy_id", legacyId).status()).isEqualTo(409);
    assertThat(exported("charge")).contains(twins.charge() + ",").doesNotContain(twins.person());
    assertThat(exported("person")).doesNotContain(twins.charge());
  }

  @Test
  void twinsInOneBatchAreResolvedEachForItself() {
    Twins twins = twins();
    API.post("/v1/ids/" + twins.person() + "/revoke", "{}");

    Reply resolved =
        API.post("/v1/ids/resolve", json("ids", List.of(twins.person(), twins.charge())));

    assertThat(resolved.body().at("/data/0/error/code").stringValue())
        .isEqualTo("public_id_revoked");
    assertThat(resolved.body().at("/data/1/public_id/id").stringValue()).isEqualTo(twins.charge());
    assertThat(resolved.body().at("/data/1/public_id/type").stringValue()).isEqualTo("charge");
  }

  @Test
  void eachTwinIsErasedForItself() {
    Twins twins = twins();
    alias(twins.charge(), "78");
    alias(twins.person(), "78");

    assertThat(API.post("/v1/ids/" + twins.person() + "/erase", "").status()).isIn(200, 202);

    assertProblem(API.get("/v1/ids/" + twins.person()), "410 public_id_erased id");
    assertThat(status(twins.charge())).isEqualTo(200);
    assertThat(API.get("/v1/legacy/charge/78").text("/id")).isEqualTo(twins.charge());
    assertThat(API.get("/v1/legacy/person/78").status()).isEqualTo(410);

    API.post("/v1/ids/" + twins.charge() + "/revoke", json("reason", "charge's"));
    assertThat(API.get("/v1/ids/" + twins.charge()).text("/ended_reason")).isEqualTo("charge's");
    assertThat(API.post("/v1/ids/" + twins.charge() + "/erase", "").status()).isIn(200, 202);
    assertProblem(API.get("/v1/ids/" + twins.charge()), "410 public_id_erased id");
  }

  @Test
  void theChangesNameTheTwinThatEnded() {
    Twins twins = twins();
    try (GatewayFixture other = GatewayFixture.on(GATEWAY.database)) {
      TestClient there = new TestClient(other.uri(), GATEWAY.key());
      assertThat(there.get("/v1/ids/" + twins.charge()).status()).isEqualTo(200);
      assertThat(there.get("/v1/ids/" + twins.person()).status()).isEqualTo(200);
      long before = API.get("/v1/changes").body().at("/number").asLong();

      API.post("/v1/ids/" + twins.person() + "/revoke", "{}");

      await().until(() -> there.get("/v1/ids/" + twins.person()).status() == 410);
      assertThat(there.get("/v1/ids/" + twins.charge()).status()).isEqualTo(200);
      // What other tests have ended may still come.
      List<String> ended =
          await()
              .until(
                  () ->
                      API.get("/v1/changes?after=" + before)
                          .body()
                          .at("/data")
                          .findValuesAsString("id"),
                  ids -> ids.contains(twins.person()));
      assertThat(ended).doesNotContain(twins.charge());
    }
  }

  private static String exported(String type) {
    return API.get("/v1/exports?type=" + type).body().stringValue();
  }

  private static void alias(String id, String legacyId) {
    assertThat(API.send("PUT", "/v1/ids/" + id + "/aliases/legacy/" + legacyId, null).status())
        .isIn(200, 201);
  }

  /** 200 for an ID that is active or merged, 410 for one that is revoked. */
  private static int status(String id) {
    return API.get("/v1/ids/" + id).status();
  }

  private static String survivor(String id) {
    return API.get("/v1/ids/" + id).text("/merged_into");
  }

  private static void merge(String id, String into) {
    assertThat(API.post("/v1/ids/" + id + "/merge", json("into", into)).status()).isEqualTo(200);
  }

  /** Mints a charge and imports a person of the same token, with a key of the same bucket. */
  private static Twins twins() {
    String charge = API.mint("charge").text("/id");
    ParsedId.Valid parsed = (ParsedId.Valid) PublicId.parse(charge);
    String person = new PublicId(new Prefix("usr"), parsed.id().token()).toString();
    String key =
        GATEWAY
            .sql()
            .texts(
                """
                select key from (select gen_random_uuid() as key from generate_series(1, 40000)) k
                 where coatcheck.bucket_of_key(
                         (select salt from coatcheck.type where name = 'person'), key) = %d
                 limit 1
                """
                    .formatted(parsed.id().token().bucket()))
            .getFirst();
    Reply imported =
        API.with("Content-Type", "text/csv")
            .post("/v1/imports", "type,key,public_id\nperson,%s,%s\n".formatted(key, person));
    assertThat(imported.body().at("/created").intValue()).isEqualTo(1);
    return new Twins(charge, person);
  }
}
