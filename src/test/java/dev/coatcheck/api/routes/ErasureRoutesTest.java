package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestSession;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Promise 21: what is erased is forgotten, answers 410 and never comes back. */
class ErasureRoutesTest {
  private static final AtomicLong NUMBERS = new AtomicLong(7_310_000_000_000L);
  private static final Map<String, Object> LEGACY =
      Map.of("public", true, "status", 301, "max_age_seconds", 60);

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static final TestClient CLIENT = GATEWAY.client();

  @BeforeAll
  static void start() {
    CLIENT.put(
        TestType.of("charge", "ch")
            .redirect("https://shop.example/{id}")
            .with("legacy", LEGACY)
            .with("public_pattern", TestType.pattern("old_", "0123456789", 8, 20)));
    CLIENT.put(
        TestType.of("order", "or")
            .uuids()
            .redirect("https://shop.example/{id}")
            .with("legacy", LEGACY)
            .with("public_pattern", TestType.pattern("ord_", "0123456789", 8, 20)));
  }

  /**
   * A public ID with a key, a legacy ID, a client ID and an older public ID, each of them unique.
   */
  private record Known(
      String type, String id, String key, String legacyId, String clientId, String older) {
    static Known minted(String type) {
      boolean isUuid = type.equals("order");
      String key = isUuid ? UUID.randomUUID().toString() : number();
      String legacyId = number();
      String clientId = UUID.randomUUID().toString();
      String older = (isUuid ? "ord_" : "old_") + number();
      Reply minted = CLIENT.mint(type, "key", key, "legacy_id", legacyId, "client_id", clientId);
      assertThat(minted.status()).isEqualTo(201);
      Known known = new Known(type, minted.text("/id"), key, legacyId, clientId, older);
      assertThat(CLIENT.send("PUT", known.aliases() + "/public/" + older, null).status())
          .isEqualTo(201);
      return known;
    }

    String aliases() {
      return "/v1/ids/" + id + "/aliases";
    }

    /** What must be found nowhere once it is erased. */
    List<String> canaries() {
      return List.of(key, legacyId, clientId, older);
    }
  }

  private static String number() {
    return Long.toString(NUMBERS.addAndGet(7_919));
  }

  private static Reply erase(String id) {
    return CLIENT.send("POST", "/v1/ids/" + id + "/erase", null);
  }

  @ParameterizedTest
  @ValueSource(strings = {"charge", "order"})
  void anErasedPublicIdIsGoneInEveryAnswer(String type) {
    Known known = Known.minted(type);
    String id = known.id();
    assertThat(CLIENT.anonymous().get("/r/" + id).status()).isEqualTo(302);
    assertThat(CLIENT.anonymous().get("/r/" + known.older()).status()).isEqualTo(302);
    assertThat(CLIENT.anonymous().get("/legacy/" + type + "/" + known.legacyId()).status())
        .isEqualTo(301);

    Reply erased = erase(id);

    assertThat(erased.status()).isEqualTo(200);
    assertThat(erased.text("/status")).isEqualTo("erased");
    assertThat(erased.body().toString()).doesNotContain(known.canaries());
    assertThat(
            Duration.between(
                Instant.parse(erased.text("/erased_at")),
                Instant.parse(erased.text("/complete_at"))))
        .isEqualTo(Duration.ofHours(28).plusMinutes(15));
    assertThat(erase(id).body()).isEqualTo(erased.body());
    assertThat(CLIENT.get("/v1/ids/" + id + "/erase").body()).isEqualTo(erased.body());

    assertProblem(CLIENT.get("/v1/ids/" + id), "410 public_id_erased id");
    assertProblem(CLIENT.get("/v1/ids/" + id + "?expand=aliases"), "410 public_id_erased id");
    assertProblem(CLIENT.get("/v1/ids/" + known.older()), "410 public_id_erased id");
    assertProblem(
        CLIENT.hostile().send("POST", "/v1/ids/" + known.older() + "/erase", null),
        "410 public_id_erased id");
    assertProblem(
        CLIENT.hostile().get("/v1/ids/" + known.older() + "/erase"), "410 public_id_erased id");
    assertProblem(CLIENT.get(known.aliases()), "410 public_id_erased id");
    assertProblem(
        CLIENT.send("PUT", known.aliases() + "/legacy/1", null), "410 public_id_erased id");
    assertProblem(CLIENT.delete(known.aliases() + "/legacy/1"), "410 public_id_erased id");
    assertProblem(CLIENT.post("/v1/ids/" + id + "/revoke", "{}"), "410 public_id_erased id");
    assertProblem(
        CLIENT.post(
            "/v1/ids/" + id + "/merge",
            json("into", CLIENT.mint(type, "key", known.key()).text("/id"))),
        "410 public_id_erased id");
    Reply batch = CLIENT.post("/v1/ids/resolve", json("ids", List.of(id, known.older())));
    assertThat(batch.body().at("/data").findValuesAsString("code"))
        .containsExactly("public_id_erased", "public_id_erased");
    String legacy = "/v1/legacy/" + type + "/" + known.legacyId();
    assertProblem(CLIENT.get(legacy), "410 public_id_erased n");
    String byAlias = "/v1/types/" + type + "/aliases/";
    assertProblem(CLIENT.get(byAlias + "client/" + known.clientId()), "410 public_id_erased value");
    assertProblem(CLIENT.get(byAlias + "public/" + known.older()), "410 public_id_erased value");
    assertProblem(CLIENT.resolveUrl("https://shop.example/a/" + id), "410 public_id_erased url");
    assertThat(CLIENT.anonymous().get("/r/" + id).status()).isEqualTo(410);
    assertThat(CLIENT.anonymous().get("/r/" + known.older()).status()).isEqualTo(410);
    assertThat(CLIENT.anonymous().get("/legacy/" + type + "/" + known.legacyId()).status())
        .isEqualTo(410);
    assertThat(CLIENT.get("/v1/ids?limit=100&type=" + type).body().toString()).doesNotContain(id);
    assertProblem(
        CLIENT.hostile().get("/v1/ids?status=erased&type=" + type), "400 parameter_invalid status");
    assertThat(CLIENT.get("/v1/exports?include_ended=true&type=" + type).body().stringValue())
        .doesNotContain(id);
  }

  @Test
  void aKeyOfAnErasedPublicIdIsUnknown() {
    Known known = Known.minted("charge");
    erase(known.id());

    assertProblem(CLIENT.get("/v1/types/charge/keys/" + known.key()), "404 key_unknown key");
    Reply again = CLIENT.mint("charge", "key", known.key());
    assertThat(again.status()).isEqualTo(201);
    assertThat(again.text("/id")).isNotEqualTo(known.id());
  }

  @ParameterizedTest
  @ValueSource(strings = {"charge", "order"})
  void noMintNoAliasAndNoImportBringsItBack(String type) {
    Known known = Known.minted(type);
    String other = CLIENT.mint(type, "key", Known.minted(type).key()).text("/id");
    erase(known.id());

    Stream.of("legacy_id", "client_id")
        .map(name -> Map.of(name, name.equals("legacy_id") ? known.legacyId() : known.clientId()))
        .forEach(
            alias -> {
              String key = type.equals("order") ? UUID.randomUUID().toString() : number();
              Map.Entry<String, String> named = alias.entrySet().iterator().next();
              String name = named.getKey();
              assertProblem(
                  CLIENT.mint(type, "key", key, name, named.getValue()), "410 public_id_erased");
              Reply batch =
                  CLIENT.post(
                      "/v1/ids/batch",
                      json(
                          "items",
                          List.of(
                              Map.of("type", type, "key", key, name, alias.get(name)),
                              Map.of("type", type, "key", key))));
              assertThat(batch.body().at("/data/0/error/code").asString())
                  .isEqualTo("public_id_erased");
              assertThat(batch.body().at("/data/1/status").asInt()).isEqualTo(201);
            });
    assertProblem(
        CLIENT.send("PUT", "/v1/ids/" + other + "/aliases/legacy/" + known.legacyId(), null),
        "410 public_id_erased value");

    Reply imported =
        CLIENT
            .with("Content-Type", "text/csv")
            .post(
                "/v1/imports",
                """
                type,key,legacy_id,public_id
                %1$s,%2$s,%3$s,
                %1$s,%2$s,,%4$s
                """
                    .formatted(type, known.key(), known.legacyId(), known.id()));
    assertThat(imported.body().toString()).contains("id_erased").doesNotContain(known.canaries());
    assertThat(imported.body().at("/created").asInt()).isZero();
    assertThat(
            GATEWAY.count(
                "select count(*) from coatcheck.alias where value = '%s'"
                    .formatted(known.legacyId())))
        .isZero();
  }

  /** Otherwise a merged public ID would stay behind, with its key and without a survivor. */
  @Test
  void nothingIsErasedWhileAnotherTransactionHasWhatWasMerged() {
    Known survivor = Known.minted("charge");
    Known merged = Known.minted("charge");
    CLIENT.post("/v1/ids/" + merged.id() + "/merge", json("into", survivor.id()));
    String erase = "/v1/ids/" + survivor.id() + "/erase?cascade=true";

    try (TestSession holder =
        GATEWAY
            .sql()
            .begin(
                "select from coatcheck.public_id where key = %s for update"
                    .formatted(merged.key()))) {
      assertProblem(
          CLIENT.hostile().refused("busy", once -> once.send("POST", erase, null)), "409 busy");
      assertThat(CLIENT.get("/v1/ids/" + survivor.id()).text("/status")).isEqualTo("active");
      assertThat(CLIENT.get("/v1/ids/" + merged.id()).text("/key")).isEqualTo(survivor.key());
      holder.rollback();
    }

    assertThat(CLIENT.send("POST", erase, null).status()).isEqualTo(200);
    assertProblem(CLIENT.get("/v1/ids/" + merged.id()), "410 public_id_erased id");
  }

  @Test
  void aSurvivorOfMoreThanAThousandIsNotErased() {
    String most = survivorOf(1_000);
    String tooMany = survivorOf(1_001);

    assertProblem(
        CLIENT.hostile().send("POST", "/v1/ids/" + tooMany + "/erase?cascade=true", null),
        "409 public_id_is_survivor id");
    assertThat(CLIENT.get("/v1/ids/" + tooMany).text("/status")).isEqualTo("active");

    assertThat(CLIENT.send("POST", "/v1/ids/" + most + "/erase?cascade=true", null).status())
        .isEqualTo(200);
  }

  private static String survivorOf(int merged) {
    String survivor = Known.minted("charge").id();
    for (int done = 0; done < merged; done += 1_000) {
      List<String> ids = new ArrayList<>();
      Reply minted =
          CLIENT.post(
              "/v1/ids/batch", json("type", "charge", "count", Math.min(1_000, merged - done)));
      minted.body().at("/data").forEach(item -> ids.add(item.at("/public_id/id").asString()));
      CLIENT.post(
          "/v1/ids/merge",
          json("items", ids.stream().map(id -> Map.of("id", id, "into", survivor)).toList()));
    }
    return survivor;
  }

  @Test
  void aSurvivorIsErasedOnlyWithWhatWasMergedIntoIt() {
    Known survivor = Known.minted("charge");
    Known merged = Known.minted("charge");
    CLIENT.post("/v1/ids/" + merged.id() + "/merge", json("into", survivor.id()));

    assertProblem(erase(survivor.id()), "409 public_id_is_survivor cascade");
    assertThat(CLIENT.get("/v1/ids/" + merged.id()).text("/key")).isEqualTo(survivor.key());

    Reply erased = CLIENT.send("POST", "/v1/ids/" + survivor.id() + "/erase?cascade=true", null);
    assertThat(erased.status()).isEqualTo(200);
    assertProblem(CLIENT.get("/v1/ids/" + merged.id()), "410 public_id_erased id");
    assertProblem(CLIENT.get("/v1/ids/" + survivor.id()), "410 public_id_erased id");
    assertThat(
            GATEWAY
                .sql()
                .text(
                    """
                    select detail::text from coatcheck.audit_entry
                     where action = 'id.erase' and subjects @> array['%s', '%s']\
                    """
                        .formatted(survivor.id(), merged.id())))
        .contains(merged.id());
  }

  @Test
  void anOptionInABodyIsRefusedAndNothingIsErased() {
    Known survivor = Known.minted("charge");

    for (String body : List.of(json("cascade", true), "{}", "junk")) {
      assertProblem(
          CLIENT.hostile().post("/v1/ids/" + survivor.id() + "/erase", body),
          "400 field_unknown body");
    }
    assertThat(CLIENT.get("/v1/ids/" + survivor.id()).text("/key")).isEqualTo(survivor.key());
  }

  @Test
  void aWalkThroughAListWhoseLastIdWasErasedIsToldWhereToContinue() {
    Known last = Known.minted("charge");
    erase(last.id());

    Reply refused = CLIENT.get("/v1/ids?type=charge&starting_after=" + last.id());

    assertProblem(refused, "400 parameter_invalid starting_after");
    assertThat(refused.text("/detail")).contains("If it was erased since, send the one next to it");
  }

  @Test
  void aMergedOrRevokedPublicIdIsErasedWithoutItsSurvivor() {
    Known survivor = Known.minted("charge");
    Known merged = Known.minted("charge");
    Known revoked = Known.minted("charge");
    CLIENT.post("/v1/ids/" + merged.id() + "/merge", json("into", survivor.id()));
    CLIENT.post("/v1/ids/" + revoked.id() + "/revoke", json("reason", "canary-reason"));

    erase(merged.id());
    erase(revoked.id());

    assertProblem(CLIENT.get("/v1/ids/" + merged.id()), "410 public_id_erased id");
    assertProblem(CLIENT.get("/v1/ids/" + revoked.id()), "410 public_id_erased id");
    assertThat(CLIENT.get("/v1/ids/" + survivor.id()).status()).isEqualTo(200);
    assertThat(
            GATEWAY.count("select count(*) from coatcheck.ending where reason = 'canary-reason'"))
        .isZero();
  }

  @Test
  void aStoredResponseAnswers410ForWhatWasErased() {
    TestClient keyed = CLIENT.with("Idempotency-Key", UUID.randomUUID().toString());
    String key = number();
    Reply one = keyed.mint("charge", "key", key);
    TestClient batchKeyed = CLIENT.with("Idempotency-Key", UUID.randomUUID().toString());
    String items = json("type", "charge", "count", 3);
    Reply batch = batchKeyed.post("/v1/ids/batch", items);
    String second = batch.text("/data/1/public_id/id");
    TestClient mergeKeyed = CLIENT.with("Idempotency-Key", UUID.randomUUID().toString());
    String merge = "/v1/ids/" + batch.text("/data/0/public_id/id") + "/merge";
    mergeKeyed.post(merge, json("into", second));

    erase(one.text("/id"));
    CLIENT.send("POST", "/v1/ids/" + second + "/erase?cascade=true", null);

    Reply again = keyed.mint("charge", "key", key);
    assertProblem(again, "410 public_id_erased id");
    assertThat(again.header("idempotent-replayed")).isEqualTo("true");
    Reply batchAgain = batchKeyed.post("/v1/ids/batch", items);
    assertThat(batchAgain.status()).isEqualTo(200);
    assertThat(batchAgain.body().at("/data/0/status").asInt()).isEqualTo(410);
    assertThat(batchAgain.text("/data/1/error/code")).isEqualTo("public_id_erased");
    assertThat(batchAgain.body().at("/data/2")).isEqualTo(batch.body().at("/data/2"));
    assertProblem(mergeKeyed.post(merge, json("into", second)), "410 public_id_erased id");
  }

  @Test
  void anotherInstanceForgetsItWithinTwoSeconds() {
    Known known = Known.minted("charge");
    try (GatewayFixture other = GatewayFixture.on(GATEWAY.database)) {
      TestClient there = new TestClient(other.uri(), GATEWAY.key());
      String legacy = "/v1/legacy/charge/" + known.legacyId();
      assertThat(there.get("/v1/ids/" + known.id()).status()).isEqualTo(200);
      assertThat(there.get(legacy).status()).isEqualTo(200);

      erase(known.id());

      Awaitility.await()
          .pollInterval(Duration.ofMillis(50))
          .until(
              () ->
                  there.get("/v1/ids/" + known.id()).status() == 410
                      && there.get(legacy).status() == 410);
      assertThat(there.get("/v1/types/charge/keys/" + known.key()).status()).isEqualTo(404);
    }
  }

  @Test
  void twoErasuresAtOnceAreOne() throws Exception {
    Known known = Known.minted("charge");
    List<Future<Reply>> replies = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 5; i++) {
        replies.add(threads.submit(() -> erase(known.id())));
      }
    }
    List<Object> bodies = new ArrayList<>();
    for (Future<Reply> reply : replies) {
      assertThat(reply.get().status()).isEqualTo(200);
      bodies.add(reply.get().body());
    }
    assertThat(bodies).allMatch(bodies.getFirst()::equals);
    assertThat(
            GATEWAY.count(
                "select count(*) from coatcheck.audit_entry"
                    .concat(" where action = 'id.erase' and '%s' = any(subjects)")
                    .formatted(known.id())))
        .isOne();
  }

  /** An alias that is given meanwhile would be left, for good. */
  @Test
  void anErasureRacesWithMintsAliasesAndRevocations() throws Exception {
    for (int round = 0; round < 10; round++) {
      Known known = Known.minted("charge");
      List<Future<Reply>> others = new ArrayList<>();
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        others.add(threads.submit(() -> erase(known.id())));
        for (int i = 0; i < 3; i++) {
          String alias = number();
          others.add(
              threads.submit(() -> CLIENT.send("PUT", known.aliases() + "/legacy/" + alias, null)));
          others.add(
              threads.submit(
                  () -> CLIENT.mint("charge", "key", known.key(), "legacy_id", number())));
        }
        others.add(threads.submit(() -> CLIENT.post("/v1/ids/" + known.id() + "/revoke", "{}")));
      }
      for (Future<Reply> reply : others) {
        assertThat(reply.get().status()).isLessThan(500);
      }
      assertProblem(CLIENT.get("/v1/ids/" + known.id()), "410 public_id_erased id");
    }
    assertThat(
            GATEWAY.count(
                """
                select count(*) from coatcheck.alias join coatcheck.erasure using (token, type_id)\
                """))
        .isZero();
  }

  /** An export reads a snapshot for as long as its client takes. */
  @Test
  void anErasureWaitsForNoReader() {
    Known known = Known.minted("charge");
    try (TestSession reader = GATEWAY.sql().session().beginSnapshot()) {
      assertThat(reader.number("select count(*) from coatcheck.public_id")).isPositive();

      assertThat(erase(known.id()).status()).isEqualTo(200);
    }
    assertThat(CLIENT.get("/v1/exports?type=charge").body().stringValue())
        .doesNotContain(known.canaries());
  }

  @Test
  void whatCanNotBeErasedIsRefused() {
    assertProblem(erase(TestClient.UNKNOWN_ID), "404 public_id_unknown id");
    assertProblem(
        CLIENT.get("/v1/ids/" + TestClient.UNKNOWN_ID + "/erase"), "404 public_id_unknown id");
    assertProblem(
        CLIENT.get("/v1/ids/" + CLIENT.mint("charge").text("/id") + "/erase"), "404 not_found");
    assertThat(CLIENT.hostile().send("POST", "/v1/ids/junk/erase", null).status()).isEqualTo(400);
    assertProblem(
        CLIENT
            .hostile()
            .with("Idempotency-Key", "once")
            .send("POST", "/v1/ids/" + TestClient.UNKNOWN_ID + "/erase", null),
        "400 header_invalid Idempotency-Key");
    String erase = "/v1/ids/" + TestClient.UNKNOWN_ID + "/erase";
    assertProblem(
        CLIENT.hostile().send("POST", erase + "?cascade=yes", null),
        "400 parameter_invalid cascade");
    assertProblem(
        CLIENT.hostile().send("POST", erase + "?force=true", null), "400 parameter_unknown force");
  }

  /** The test ends the stored responses and the feed, as time does. */
  @ParameterizedTest
  @ValueSource(strings = {"charge", "order"})
  void onceAnErasureIsCompleteNothingHoldsItsKeyOrItsAliases(String type) {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    root.addAppender(log);
    TestClient keyed = CLIENT.with("Idempotency-Key", UUID.randomUUID().toString());
    Known known = Known.minted(type);
    keyed.mint(type, "key", known.key(), "legacy_id", known.legacyId());
    CLIENT.post("/v1/ids/" + known.id() + "/revoke", json("reason", "for " + known.key()));
    assertThat(found(known)).isNotEmpty();

    Reply erased = erase(known.id());
    assertThat(erased.body().has("complete_at")).isTrue();
    for (int part = 0; part < 9; part++) {
      GATEWAY.execute("truncate coatcheck.idempotency_" + part);
    }
    GATEWAY.execute("delete from coatcheck.change");

    assertThat(found(known)).isEmpty();
    assertThat(CLIENT.get("/v1/exports?include_ended=true&type=" + type).body().stringValue())
        .doesNotContain(known.canaries());
    assertThat(CLIENT.get("/metrics").body().toString()).doesNotContain(known.canaries());
    root.detachAppender(log);
    // The client of the tests tells what it has to send again.
    assertThat(log.list)
        .filteredOn(line -> !line.getLoggerName().equals(TestClient.class.getName()))
        .extracting(ILoggingEvent::getFormattedMessage)
        .noneMatch(line -> known.canaries().stream().anyMatch(line::contains));
  }

  /** Every column of every table that holds a text of the public ID's key or aliases. */
  private static List<String> found(Known known) {
    try (TestSession session = GATEWAY.sql().session()) {
      String anywhere =
          session
              .texts(
                  """
                  select format('select %1$L from %2$I.%1$I as row where row::text ~ ''<canaries>''',
                                relname, relnamespace::regnamespace)
                    from pg_class
                   where relkind in ('r', 'm')
                     and relnamespace::regnamespace::text not in ('pg_catalog', 'information_schema')
                  """)
              .stream()
              .collect(Collectors.joining(" union all "));
      return session.texts(anywhere.replace("<canaries>", String.join("|", known.canaries())));
    }
  }
}
