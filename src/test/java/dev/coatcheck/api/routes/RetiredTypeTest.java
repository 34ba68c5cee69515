package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.assertPut;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.seal.TestSealKeys;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** Types that are retired get no new public IDs, and everything else of them goes on. */
class RetiredTypeTest {
  private static final TestDatabase DATABASE = TestDatabase.fresh();

  private static final List<GatewayFixture> GATEWAYS = List.of(gateway(), gateway());

  private static final TestClient CLIENT = GATEWAYS.getFirst().client();

  private static GatewayFixture gateway() {
    return GatewayFixture.on(DATABASE, "COATCHECK_SEAL_KEYS_FILE", TestSealKeys.file().toString());
  }

  @AfterAll
  static void stop() {
    GATEWAYS.forEach(GatewayFixture::close);
  }

  private static TestType stored(String name, String prefix) {
    return TestType.of(name, prefix).redirect("https://shop.example/{id}").with("legacy", Map.of());
  }

  private static TestType sealed(String name, String prefix) {
    return TestType.of(name, prefix)
        .with("sealed", Map.of("from", "2023-01-01T00:00:00Z", "seal_key", TestSealKeys.FIRST));
  }

  private static long count(String type) {
    return GATEWAYS
        .getFirst()
        .count(
            "select count(*) from coatcheck.public_id join coatcheck.type using (type_id) where"
                + " name = '"
                + type
                + "'");
  }

  private static Reply retire(TestType type) {
    Reply retired = CLIENT.put(type.with("retired", true));
    assertThat(retired.status()).isEqualTo(200);
    return retired;
  }

  private static Reply published(String key) {
    return CLIENT.post(
        "/v1/urls/publish", json("url", "/messages/" + key, "template", "/messages/{message}"));
  }

  private static String key(Instant time) {
    SnowflakeLayout layout = SnowflakeLayout.DEFAULT;
    return Long.toString(layout.key(layout.position(time.toEpochMilli()), 1));
  }

  @Test
  void aRetiredTypeMintsNothingNewAndAnswersWhatItHas() {
    TestType ticket = stored("ticket", "tck");
    assertPut(CLIENT.put(ticket));
    TestClient once = CLIENT.with("Idempotency-Key", "before-the-retirement");
    Reply first = once.mint("ticket", "legacy_id", "17");
    String id = first.text("/id");
    String key = first.text("/key");

    Reply retired = retire(ticket);

    assertThat(retired.body().path("retired").asBoolean()).isTrue();
    assertThat(Instant.parse(retired.text("/retired_at"))).isBefore(Instant.now().plusSeconds(60));
    assertProblem(CLIENT.mint("ticket"), "409 type_retired type");
    assertProblem(CLIENT.mint("ticket", "key", "4711"), "409 type_retired type");
    assertProblem(CLIENT.mint("ticket", "legacy_id", "18"), "409 type_retired type");
    assertProblem(
        CLIENT.mint("ticket", "client_id", "0b0fdb0d-6d9a-4b57-9c76-4b1d6e4f2a10"),
        "409 type_retired type");
    assertThat(CLIENT.mint("ticket", "key", key).text("/id")).isEqualTo(id);
    assertThat(CLIENT.mint("ticket", "legacy_id", "17").text("/id")).isEqualTo(id);
    Reply replayed = once.mint("ticket", "legacy_id", "17");
    assertThat(replayed.status()).isEqualTo(201);
    assertThat(replayed.text("/id")).isEqualTo(id);

    assertThat(CLIENT.get("/v1/ids/" + id).text("/key")).isEqualTo(key);
    assertThat(CLIENT.get("/v1/types/ticket/keys/" + key).text("/id")).isEqualTo(id);
    assertThat(CLIENT.get("/r/" + id).status()).isEqualTo(302);
    assertThat(CLIENT.get("/legacy/ticket/17").status()).isEqualTo(308);
    assertThat(CLIENT.send("PUT", "/v1/ids/" + id + "/aliases/legacy/19", null).status())
        .isEqualTo(201);
    assertThat(CLIENT.get("/v1/exports?type=ticket").status()).isEqualTo(200);
    assertThat(CLIENT.post("/v1/ids/" + id + "/revoke", "{}").status()).isEqualTo(200);
    assertThat(count("ticket")).isOne();
  }

  @Test
  void anItemOfARetiredTypeIsRefusedAloneUnlessTheBatchIsAtomic() {
    TestType receipt = stored("receipt", "rcp");
    TestType bill = stored("bill", "bil");
    assertPut(CLIENT.put(receipt));
    assertPut(CLIENT.put(bill));
    String key = CLIENT.mint("receipt").text("/key");
    retire(receipt);
    List<Map<String, String>> items =
        List.of(
            Map.of("type", "receipt"),
            Map.of("type", "bill"),
            Map.of("type", "receipt", "key", key));

    Reply batch = CLIENT.post("/v1/ids/batch", json("items", items));
    assertThat(batch.text("/data/0/error/code")).isEqualTo("type_retired");
    assertThat(batch.text("/data/0/error/param")).isEqualTo("items[0].type");
    assertThat(batch.text("/data/1/public_id/type")).isEqualTo("bill");
    assertThat(batch.text("/data/2/public_id/key")).isEqualTo(key);

    Reply atomic = CLIENT.post("/v1/ids/batch", json("items", items, "atomic", true));
    assertThat(atomic.text("/code")).isEqualTo("batch_refused");
    Reply counted = CLIENT.post("/v1/ids/batch", json("type", "receipt", "count", 2));
    assertThat(counted.text("/data/1/error/code")).isEqualTo("type_retired");
    assertThat(count("bill")).isOne();
    assertThat(count("receipt")).isOne();
  }

  @Test
  void anImportBringsARetiredTypeNoNewRows() {
    TestType parcel = stored("parcel", "prc");
    assertPut(CLIENT.put(parcel));
    TestClient csv = CLIENT.with("Content-Type", "text/csv");
    String file = "type,key,legacy_id\nparcel,4711,1\nparcel,4712,2\n";
    assertThat(csv.post("/v1/imports", file).body().path("created").asInt()).isEqualTo(2);
    retire(parcel);

    Reply again = csv.post("/v1/imports", file + "parcel,4713,3\nparcel,,4\n");

    assertThat(again.body().path("existing").asInt()).isEqualTo(2);
    assertThat(again.body().path("created").asInt()).isZero();
    assertThat(again.text("/errors/0/code")).isEqualTo("type_retired");
    assertThat(again.body().at("/errors/1/line").asInt()).isEqualTo(5);
    assertThat(count("parcel")).isEqualTo(2);
  }

  @Test
  void aRetiredSealedTypeGivesNoKeyAPublicIdThatItDidNotHave() {
    TestType message = sealed("message", "msg");
    assertPut(CLIENT.put(message));
    Reply before = CLIENT.mint("message");
    assertThat(before.status()).isEqualTo(201);

    retire(message);

    assertProblem(CLIENT.mint("message"), "409 type_retired type");
    assertThat(
            CLIENT
                .post("/v1/ids/batch", json("type", "message", "count", 2))
                .text("/data/0/error/code"))
        .isEqualTo("type_retired");
    assertThat(CLIENT.mint("message", "key", before.text("/key")).text("/id"))
        .isEqualTo(before.text("/id"));
    String later = key(Instant.now().plus(Duration.ofMinutes(5)));
    assertProblem(CLIENT.mint("message", "key", later), "409 type_retired type");
    assertThat(CLIENT.get("/v1/types/message/keys/" + later).status()).isEqualTo(404);
    assertThat(published(later).status()).isEqualTo(404);
    Reply found =
        CLIENT.post(
            "/v1/ids/lookup", json("type", "message", "keys", List.of(later, before.text("/key"))));
    assertThat(found.text("/data/0/error/code")).isEqualTo("key_unknown");
    assertThat(found.text("/data/1/public_id/id")).isEqualTo(before.text("/id"));
    assertThat(CLIENT.get("/v1/types/message/keys/" + before.text("/key")).text("/id"))
        .isEqualTo(before.text("/id"));
    assertThat(published(before.text("/key")).text("/published"))
        .isEqualTo("/messages/" + before.text("/id"));
    assertThat(CLIENT.get("/v1/ids/" + before.text("/id")).status()).isEqualTo(200);
  }

  @Test
  void aRetirementIsUndoneByAPutWithoutIt() {
    TestType coupon = stored("coupon", "cpn");
    assertPut(CLIENT.put(coupon));
    String since = retire(coupon).text("/retired_at");
    assertThat(retire(coupon).text("/retired_at")).isEqualTo(since);
    assertThat(CLIENT.patch("/v1/types/coupon", json("on_outage", "refuse")).text("/retired_at"))
        .isEqualTo(since);

    Reply back = CLIENT.patch("/v1/types/coupon", json("retired", false));
    assertThat(back.body().path("retired_at").isNull()).isTrue();
    assertThat(CLIENT.mint("coupon").status()).isEqualTo(201);

    retire(coupon);
    assertThat(CLIENT.put(coupon).body().path("retired").asBoolean()).isFalse();
    assertThat(CLIENT.mint("coupon").status()).isEqualTo(201);
  }

  @Test
  void everyInstanceLearnsOfARetirement() {
    TestType stored = stored("invoice", "inv");
    TestType sealed = sealed("chat", "cht");
    assertPut(CLIENT.put(stored));
    assertPut(CLIENT.put(sealed));
    TestClient elsewhere = GATEWAYS.getLast().client();
    assertThat(elsewhere.mint("invoice").status()).isEqualTo(201);
    assertThat(elsewhere.mint("chat").status()).isEqualTo(201);

    retire(stored);
    Awaitility.await().until(() -> elsewhere.mint("invoice").status() == 409);
    retire(sealed);
    Awaitility.await().until(() -> elsewhere.mint("chat").status() == 409);
  }

  @Test
  void aPutThatMustCreateATypeFindsNone() {
    TestType voucher = stored("voucher", "vch");
    TestClient ifNew = CLIENT.with("If-None-Match", "*");

    assertThat(ifNew.put(voucher).status()).isEqualTo(201);
    assertProblem(
        ifNew.put(voucher.with("on_outage", "refuse")), "412 precondition_failed If-None-Match");
    assertThat(CLIENT.get("/v1/types/voucher").text("/on_outage")).isEqualTo("serve_stale");
    assertProblem(
        CLIENT.hostile().with("If-None-Match", "\"1\"").put(voucher),
        "400 header_invalid If-None-Match");
    assertProblem(ifNew.with("If-Match", "\"1\"").put(voucher), "400 header_invalid If-None-Match");
  }
}
