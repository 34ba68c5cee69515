package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.core.id.Sha256;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.seal.TestSealKeys;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestSession;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Sealed types over HTTP, on a gateway with three seal keys. */
class SealedRoutesTest {
  @RegisterExtension
  static final GatewayFixture GATEWAY =
      GatewayFixture.own("COATCHECK_SEAL_KEYS_FILE", TestSealKeys.file().toString());

  private static final String SINCE = "2023-01-01T00:00:00Z";

  private static TestClient client;

  @BeforeAll
  static void types() {
    client = GATEWAY.client();
    TestClient.assertPut(client.put(of("message", "msg")));
  }

  private static TestType of(String name, String prefix) {
    return TestType.of(name, prefix)
        .with("sealed", Map.of("from", SINCE, "seal_key", TestSealKeys.FIRST))
        .with("redirect", Map.of("template", "https://chat.example/m/{id}", "public", true))
        .with("legacy", Map.of());
  }

  private static String key(Instant time) {
    SnowflakeLayout layout = SnowflakeLayout.DEFAULT;
    return Long.toString(layout.key(layout.position(time.toEpochMilli()), 1));
  }

  /** None of them has a row that could be counted. */
  @Test
  void aChangeThatEndsLinksOfSealedIdsIs409UnlessItIsConfirmed() {
    TestClient.assertPut(client.put(of("linked", "lnk")));
    String link = "/r/" + client.mint("linked").text("/id");

    Reply refused = client.patch("/v1/types/linked", "{\"redirect\":null}");

    assertProblem(refused, "409 links_would_die");
    assertThat(refused.body().at("/live_ids_exact").booleanValue()).isFalse();
    assertThat(client.get(link).status()).isEqualTo(302);
    assertThat(client.patch("/v1/types/linked?confirm=links", "{\"redirect\":null}").status())
        .isEqualTo(200);
  }

  @Test
  void aTypeThatIsSealedLaterHasNoLinksYet() {
    String from = Instant.now().plus(Duration.ofDays(30)).toString();
    TestClient.assertPut(
        client.put(
            of("later", "ltr")
                .with("sealed", Map.of("from", from, "seal_key", TestSealKeys.FIRST))));

    assertThat(client.patch("/v1/types/later", "{\"redirect\":null}").status()).isEqualTo(200);
  }

  @Test
  void aSealedTypeServesEveryWayThatAStoredOneDoes() {
    Reply minted = client.mint("message", "legacy_id", "4711");
    String id = minted.text("/id");
    String key = minted.text("/key");

    assertThat(minted.status()).isEqualTo(201);
    assertThat(client.get("/v1/ids/" + id).text("/key")).isEqualTo(key);
    assertThat(client.get("/v1/types/message/keys/" + key).text("/id")).isEqualTo(id);
    assertThat(
            client
                .post("/v1/ids/lookup", json("type", "message", "keys", List.of(key)))
                .text("/data/0/public_id/id"))
        .isEqualTo(id);
    assertThat(
            client.post("/v1/ids/resolve", json("ids", List.of(id))).text("/data/0/public_id/key"))
        .isEqualTo(key);
    assertThat(client.get("/v1/types/message/aliases/legacy/4711").text("/public_id/id"))
        .isEqualTo(id);
    assertThat(client.get("/r/" + id).status()).isEqualTo(302);
    assertThat(client.mint("message", "key", key).status()).isEqualTo(200);
    assertThat(client.mint("message", "key", key).text("/id")).isEqualTo(id);
    assertThat(
            client
                .post("/v1/ids/batch", json("type", "message", "count", 3))
                .text("/data/2/public_id/type"))
        .isEqualTo("message");

    assertThat(client.post("/v1/ids/" + id + "/revoke", "{}").status()).isEqualTo(200);
    assertThat(client.get("/v1/ids/" + id).status()).isEqualTo(410);
    assertThat(client.get("/r/" + id).status()).isEqualTo(410);
    assertProblem(client.mint("message", "key", key), "409 id_ended");
  }

  @Test
  void aSealedIdGetsAliasesUntilItEnds() {
    String id = client.mint("message").text("/id");
    String aliases = "/v1/ids/" + id + "/aliases";

    assertThat(client.send("PUT", aliases + "/legacy/8001", null).status()).isEqualTo(201);
    assertThat(client.send("PUT", aliases + "/legacy/8001", null).status()).isEqualTo(200);
    assertThat(client.get("/v1/types/message/aliases/legacy/8001").text("/public_id/id"))
        .isEqualTo(id);
    assertThat(client.get(aliases).body().at("/data")).hasSize(1);
    assertThat(client.get("/legacy/message/8001").status()).isEqualTo(308);
    assertThat(client.send("DELETE", aliases + "/legacy/8001", null).status()).isEqualTo(204);

    client.post("/v1/ids/" + id + "/revoke", "{}");
    assertProblem(client.send("PUT", aliases + "/legacy/8002", null), "409 id_ended id");
  }

  @Test
  void aForgedIdIsUnknown() {
    Reply minted = client.mint("message");
    TestClient.assertPut(client.put(of("other", "oth")));

    assertProblem(client.get("/v1/ids/msg_4KIWSf8WvPNoQDBwStVIDYHU"), "400 public_id_malformed id");
    assertThat(client.get("/v1/ids/" + minted.text("/id")).status()).isEqualTo(200);
  }

  @Test
  void whatNeedsRowsIsRefused() {
    String id = client.mint("message").text("/id");

    assertProblem(client.get("/v1/ids?type=message"), "422 type_sealed type");
    assertProblem(client.get("/v1/exports?type=message"), "422 type_sealed type");
    assertProblem(client.send("POST", "/v1/ids/" + id + "/erase", null), "422 type_sealed id");
    Reply imported =
        client
            .with("Content-Type", "text/csv")
            .post("/v1/imports", "type,key\nmessage," + key(Instant.now()) + "\n");
    assertThat(imported.text("/errors/0/code")).isEqualTo("key_sealed");
  }

  @Test
  void aKeyThatIsTooFarAheadIsRefused() {
    String ahead = key(Instant.now().plus(Duration.ofHours(25)));

    assertProblem(client.mint("message", "key", ahead), "422 key_too_far_ahead key");
    assertProblem(client.get("/v1/types/message/keys/" + ahead), "404 key_unknown key");
  }

  @Test
  void aRefusalByTheClockOfOneInstanceIsNotKept() {
    TestClient keyed = client.with("Idempotency-Key", "ahead");
    String ahead = key(Instant.now().plus(Duration.ofHours(25)));
    assertProblem(keyed.mint("message", "key", ahead), "422 key_too_far_ahead key");

    Reply again = keyed.mint("message", "key", ahead);
    assertProblem(again, "422 key_too_far_ahead key");
    assertThat(again.has("idempotent-replayed")).isFalse();
    String batch = json("items", List.of(Map.of("type", "message", "key", ahead)), "atomic", true);
    TestClient other = client.with("Idempotency-Key", "ahead together");
    assertProblem(other.post("/v1/ids/batch", batch), "422 batch_refused");
    assertThat(other.post("/v1/ids/batch", batch).has("idempotent-replayed")).isFalse();

    TestClient used = client.with("Idempotency-Key", "used");
    assertThat(used.mint("message").status()).isEqualTo(201);
    assertProblem(used.mint("message", "key", ahead), "422 idempotency_key_reused Idempotency-Key");
  }

  @Test
  void aTypeSaysWhatItSealsAndKeepsIt() {
    Reply type = client.get("/v1/types/message");

    assertThat(type.text("/sealed/from")).isEqualTo(SINCE);
    assertThat(type.text("/eras/0/seal_key")).isEqualTo(TestSealKeys.FIRST);
    assertThat(type.body().at("/eras/0/starts_at").isNull()).isTrue();
    assertThat(client.put(of("message", "msg")).status()).isEqualTo(200);
    assertThat(client.patch("/v1/types/message", json("sealed", null)).text("/sealed/from"))
        .isEqualTo(SINCE);
    assertProblem(
        client.patch("/v1/types/message", json("sealed", Map.of("from", "2024-01-01T00:00:00Z"))),
        "409 immutable_field sealed");
    assertThat(client.get("/v1/types/message").text("/sealed/from")).isEqualTo(SINCE);
  }

  @Test
  void aSealingThatCannotBeIsRefusedAndNothingIsDone() {
    TestType snowflakes = TestType.of("refused", "rfs");
    assertProblem(
        client.put(
            snowflakes.with("sealed", Map.of("from", SINCE, "seal_key", "0123456789abcdef"))),
        "422 seal_key_unknown sealed.seal_key");
    assertProblem(
        client.put(
            snowflakes.with(
                "sealed", Map.of("from", "2200-01-01T00:00:00Z", "seal_key", TestSealKeys.FIRST))),
        "422 sealed_from_refused sealed.from");
    assertProblem(
        client.put(
            snowflakes
                .with("generate", "none")
                .with("sealed", Map.of("from", SINCE, "seal_key", TestSealKeys.FIRST))),
        "422 type_not_sealable sealed");
    assertProblem(
        client.put(
            snowflakes
                .uuids()
                .with("sealed", Map.of("from", SINCE, "seal_key", TestSealKeys.FIRST))),
        "422 type_not_sealable sealed");
    assertProblem(
        client
            .hostile()
            .put(snowflakes.with("sealed", Map.of("from", SINCE, "seal_key", "1".repeat(64)))),
        "400 field_invalid sealed.seal_key");
    assertProblem(
        client.hostile().put(snowflakes.with("sealed", Map.of("seal_key", TestSealKeys.FIRST))),
        "400 field_missing sealed.from");
    assertProblem(client.get("/v1/types/refused"), "404 type_unknown name");
  }

  @Test
  void aTypeThatExistsIsSealedAheadOfItsKeys() {
    TestClient.assertPut(client.put(TestType.of("parcel", "pcl")));
    String stored = client.mint("parcel").text("/id");
    Instant least = Instant.now().plus(Duration.ofHours(25));

    assertProblem(sealed("parcel", least.minusSeconds(60)), "422 sealed_from_refused sealed.from");
    client.mint("parcel", "key", key(least.plus(Duration.ofHours(2))));
    assertProblem(
        sealed("parcel", least.plus(Duration.ofHours(1))), "422 sealed_from_refused sealed.from");
    assertThat(sealed("parcel", least.plus(Duration.ofHours(3))).status()).isEqualTo(200);

    assertThat(client.get("/v1/ids/" + stored).status()).isEqualTo(200);
    assertThat(client.mint("parcel").status()).isEqualTo(201);
  }

  private static Reply sealed(String type, Instant from) {
    return client.patch(
        "/v1/types/" + type,
        json("sealed", Map.of("from", from.toString(), "seal_key", TestSealKeys.FIRST)));
  }

  /** The keys of migrated rows are made in the table's own database, which has no seal key. */
  @Test
  @Tag("owns-tables") // a table migration needs a role that owns the table
  void aTypeIsSealedOrMigratedAndNeverBoth() {
    GATEWAY.execute("create table public.sealed_rows (id bigserial primary key)");
    String plan = json("table", "sealed_rows", "type", "message");
    assertThat(client.post("/v1/table-migrations", plan).text("/code"))
        .isEqualTo("table_migration_refused");

    TestClient.assertPut(client.put(TestType.of("crate", "crt")));
    String run =
        client
            .post("/v1/table-migrations", json("table", "sealed_rows", "type", "crate"))
            .text("/id");
    GATEWAY.execute(
        "update coatcheck.table_migration set state = 'paused', occupies = true where migration_id"
            + " = "
            + run);
    assertProblem(
        sealed("crate", Instant.now().plus(Duration.ofHours(30))), "422 type_not_sealable sealed");
  }

  @Test
  void anEraBeginsAheadAndOldIdsStay() {
    TestClient.assertPut(client.put(of("turn", "trn")));
    String path = "/v1/types/turn/eras";
    String id = client.mint("turn").text("/id");

    assertProblem(
        client.post(path, json("seal_key", TestSealKeys.FIRST)), "422 era_refused seal_key");
    assertProblem(
        client.post(path, json("seal_key", "0123456789abcdef")), "422 seal_key_unknown seal_key");
    assertProblem(
        client.post(
            path,
            json(
                "seal_key",
                TestSealKeys.SECOND,
                "starts_at",
                Instant.now().plus(Duration.ofHours(24)).toString())),
        "422 era_refused starts_at");
    Reply begun = client.post(path, json("seal_key", TestSealKeys.SECOND));
    assertThat(begun.text("/eras/1/seal_key")).isEqualTo(TestSealKeys.SECOND);
    assertThat(Instant.parse(begun.text("/eras/1/starts_at")))
        .isAfter(Instant.now().plus(Duration.ofHours(24)));
    assertProblem(
        client.post(
            path,
            json("seal_key", TestSealKeys.THIRD, "starts_at", begun.text("/eras/1/starts_at"))),
        "422 era_refused starts_at");
    assertThat(client.get("/v1/ids/" + id).status()).isEqualTo(200);
    assertProblem(
        client.post("/v1/types/nobody/eras", json("seal_key", TestSealKeys.SECOND)),
        "404 type_unknown name");
    assertProblem(
        client.post("/v1/types/parcel2/eras", json("seal_key", TestSealKeys.SECOND)),
        "404 type_unknown name");
    TestClient.assertPut(client.put(TestType.of("plain", "pln")));
    assertProblem(
        client.post("/v1/types/plain/eras", json("seal_key", TestSealKeys.SECOND)),
        "422 type_not_sealable name");
  }

  /** As {@code MintRequest.keyLock} makes it: whoever mints the key holds this lock. */
  @Test
  void aKeyThatIsBeingMintedIsNotPinned() {
    TestClient.assertPut(client.put(of("minting", "mnt")));
    String id = client.mint("minting").text("/id");
    String key = client.get("/v1/ids/" + id).text("/key");
    long type = GATEWAY.count("select type_id from coatcheck.type where name = 'minting'");
    long lock = ByteBuffer.wrap(Sha256.of("key", Long.toString(type), key)).getLong();
    String pin = json("seal_key", TestSealKeys.FIRST, "keys", List.of(key));
    try (TestSession minting =
        GATEWAY.sql().begin("select pg_advisory_xact_lock(%d)".formatted(lock))) {
      assertProblem(
          client.refused("busy", once -> once.post("/v1/types/minting/pin", pin)), "409 busy");
      minting.rollback();
    }
    assertThat(client.post("/v1/types/minting/pin", pin).body().at("/pinned").asInt()).isOne();
  }

  @Test
  void keysArePinnedAndTheirEraClosed() {
    TestClient.assertPut(client.put(of("leak", "lek")));
    String path = "/v1/types/leak/pin";
    String id = client.mint("leak").text("/id");
    String key = client.get("/v1/ids/" + id).text("/key");

    Reply pinned = client.post(path, json("seal_key", TestSealKeys.FIRST, "keys", List.of(key)));
    assertThat(pinned.body().at("/pinned").asInt()).isEqualTo(1);
    assertThat(pinned.body().at("/closed_at").isNull()).isTrue();
    Reply closed = client.post(path, json("seal_key", TestSealKeys.FIRST, "close", true));
    String at = closed.text("/closed_at");
    assertThat(
            client
                .post(path, json("seal_key", TestSealKeys.FIRST, "close", true))
                .text("/closed_at"))
        .isEqualTo(at);
    assertThat(client.get("/v1/types/leak").text("/eras/0/closed_at")).isEqualTo(at);

    assertThat(client.get("/v1/ids/" + id).text("/key")).isEqualTo(key);
    assertThat(client.get("/v1/types/leak/keys/" + key).text("/id")).isEqualTo(id);
    assertThat(client.mint("leak", "key", key).text("/id")).isEqualTo(id);
    assertThat(client.mint("leak").status()).isEqualTo(201);
    assertProblem(client.send("POST", "/v1/ids/" + id + "/erase", null), "422 type_sealed id");

    assertProblem(
        client.post(path, json("seal_key", TestSealKeys.THIRD, "close", true)),
        "422 era_refused seal_key");
    assertProblem(
        client
            .hostile()
            .post(path, json("seal_key", TestSealKeys.FIRST, "keys", List.of(key, "1x"))),
        "400 key_malformed keys[1]");
    assertProblem(
        client.post(
            path,
            json(
                "seal_key",
                TestSealKeys.FIRST,
                "keys",
                List.of(key(Instant.now().plus(Duration.ofHours(25)))))),
        "422 era_refused keys[0]");
    assertProblem(
        client.hostile().post(path, json("seal_key", TestSealKeys.FIRST)),
        "400 field_missing keys");
    TestClient.assertPut(client.put(TestType.of("rowed", "rwd")));
    assertProblem(
        client.post("/v1/types/rowed/pin", json("seal_key", TestSealKeys.FIRST, "close", true)),
        "422 type_not_sealable name");
  }

  @Test
  void anInstanceThatLacksSealKeysDoesNotStartAndNamesThemAll() {
    TestClient.assertPut(
        client.put(
            TestType.of("third", "thd")
                .with("sealed", Map.of("from", SINCE, "seal_key", TestSealKeys.THIRD))));

    assertThatThrownBy(() -> GatewayFixture.on(GATEWAY.database))
        .hasMessageContaining("needs the seal key " + TestSealKeys.FIRST)
        .hasMessageContaining("type third needs the seal key " + TestSealKeys.THIRD)
        .hasMessageContaining("COATCHECK_SEAL_KEYS_FILE");
  }

  @Test
  void aRevokedIdIsDeadEverywhereThoughItHadNoRow() {
    String id = client.mint("message").text("/id");
    try (GatewayFixture other =
        GatewayFixture.on(
            GATEWAY.database, "COATCHECK_SEAL_KEYS_FILE", TestSealKeys.file().toString())) {
      TestClient there = other.client();
      assertThat(there.get("/v1/ids/" + id).status()).isEqualTo(200);

      client.post("/v1/ids/" + id + "/revoke", "{}");

      Awaitility.await().until(() -> there.get("/v1/ids/" + id).status() == 410);
    }
  }
}
