package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.EventListener.Message;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The change feed for applications, on real connections. */
@Timeout(300)
class ChangeRoutesTest {
  private static final String CHANGES = "/v1/changes";
  private static final JsonMapper JSON = new JsonMapper();

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.own();
  private static final TestClient API = GATEWAY.client();

  @BeforeAll
  static void types() {
    API.put(TestType.of("charge", "ch").with("legacy", Map.of()));
    API.put(TestType.of("user", "usr"));
  }

  private static EventListener listen(String key, @Nullable String after) throws Exception {
    return new EventListener(GATEWAY.uri().resolve(CHANGES), key, after);
  }

  private static EventListener listen() throws Exception {
    return listen(GATEWAY.key(), null);
  }

  private static JsonNode data(Message message) {
    return JSON.readTree(String.valueOf(message.data()));
  }

  /** The next message that is no head. */
  private static Message change(EventListener listener) throws Exception {
    Message next = listener.more();
    while (next.kind() == null || next.kind().equals("head")) {
      next = listener.more();
    }
    return next;
  }

  private static Message upTo(EventListener listener, String kind) throws Exception {
    Message next = listener.more();
    while (!kind.equals(next.kind())) {
      next = listener.more();
    }
    return next;
  }

  private static String revoked(String type) {
    String id = API.mint(type).text("/id");
    assertThat(API.post("/v1/ids/" + id + "/revoke", "{}").status()).isEqualTo(200);
    return id;
  }

  @Test
  void anEndingAnAliasAndATypeAreToldInOrder() throws Exception {
    try (EventListener listener = listen()) {
      assertThat(listener.response.statusCode()).isEqualTo(200);
      assertThat(listener.response.headers().map())
          .containsEntry("content-type", List.of("text/event-stream"))
          .containsEntry("cache-control", List.of("no-store"))
          .containsKey("request-id");
      Message start = upTo(listener, "start");
      assertThat(data(start).at("/known_millis").asLong()).isBetween(0L, 120_000L);
      assertThat(data(start).at("/types").isNull()).isTrue();
      upTo(listener, "head");

      String id = API.mint("charge", "legacy_id", "4711").text("/id");
      String survivor = API.mint("charge").text("/id");
      assertThat(API.delete("/v1/ids/" + id + "/aliases/legacy/4711").status()).isEqualTo(204);
      API.post("/v1/ids/" + id + "/merge", json("into", survivor));
      API.post("/v1/ids/" + survivor + "/revoke", "{}");
      API.put(TestType.of("user", "usr").redirect("https://shop.example/{id}"));

      Message alias = change(listener);
      assertThat(alias.kind()).isEqualTo("alias");
      assertThat(data(alias))
          .isEqualTo(
              JSON.readTree(
                  json(
                      "number",
                      number(alias),
                      "kind",
                      "alias",
                      "type",
                      "charge",
                      "prefix",
                      "ch",
                      "scheme",
                      "legacy",
                      "value",
                      "4711")));
      Message merged = change(listener);
      assertThat(merged.kind()).isEqualTo("ending");
      assertThat(data(merged).at("/id").asString()).isEqualTo(id);
      Message ended = change(listener);
      assertThat(data(ended).at("/id").asString()).isEqualTo(survivor);
      assertThat(data(ended).at("/type").asString()).isEqualTo("charge");
      Message type = change(listener);
      assertThat(type.kind()).isEqualTo("type");
      assertThat(data(type).at("/type").asString()).isEqualTo("user");
      assertThat(IntStream.of(number(alias), number(merged), number(ended), number(type)))
          .isSorted()
          .doesNotHaveDuplicates();
    }
  }

  private static int number(Message message) {
    return Integer.parseInt(String.valueOf(message.id()));
  }

  @Test
  void nothingIsMissedOrToldTwiceAcrossAReconnect() throws Exception {
    List<String> ended = new ArrayList<>();
    String last;
    try (EventListener listener = listen()) {
      upTo(listener, "head");
      ended.add(revoked("user"));
      last = String.valueOf(upTo(listener, "ending").id());
    }
    for (int i = 0; i < 3; i++) {
      ended.add(revoked("user"));
    }
    List<String> told = new ArrayList<>();
    try (EventListener listener = listen(GATEWAY.key(), last)) {
      for (int i = 0; i < 3; i++) {
        told.add(data(upTo(listener, "ending")).at("/id").asString());
      }
    }
    assertThat(told).isEqualTo(ended.subList(1, 4));
  }

  @Test
  void whoBeginsIsToldWhatHappenedShortlyBefore() throws Exception {
    String id = revoked("charge");
    Awaitility.await()
        .until(
            () -> {
              try (EventListener listener = listen()) {
                Message next = listener.more();
                while (!"head".equals(next.kind())) {
                  if ("ending".equals(next.kind()) && data(next).at("/id").asString().equals(id)) {
                    return true;
                  }
                  next = listener.more();
                }
                return false;
              }
            });
  }

  /** The moment is that of a poll, before the head was sent and after the one before. */
  @Test
  void aHeadSaysUpToWhichMomentAllChangesWereSent() throws Exception {
    long askedNano = System.nanoTime();
    try (EventListener listener = listen()) {
      long last = Long.MIN_VALUE;
      for (int i = 0; i < 3; i++) {
        long asOf = data(upTo(listener, "head")).at("/as_of_millis").asLong();
        assertThat(asOf)
            .isGreaterThan(last)
            .isLessThan(Duration.ofNanos(System.nanoTime() - askedNano).toMillis());
        last = asOf;
      }
    }
  }

  @Test
  void aKeyForSomeTypesHearsOfThoseOnly() throws Exception {
    TestClient.Reply made =
        API.post(
            "/v1/access/keys",
            json("name", "users", "scopes", List.of("ids:read"), "types", List.of("user")));
    try (EventListener listener = listen(made.text("/secret"), null)) {
      Message start = upTo(listener, "start");
      assertThat(data(start).at("/types")).isEqualTo(JSON.readTree("[\"user\"]"));
      upTo(listener, "head");
      revoked("charge");
      String own = revoked("user");
      assertThat(data(change(listener)).at("/id").asString()).isEqualTo(own);

      API.send(
          "PATCH", "/v1/access/keys/" + made.text("/id"), json("types", List.of("user", "charge")));
      while (listener.next() != null) {
        // The stream ends with the rights that it began with.
      }
    }
  }

  @Test
  void theStreamOfARevokedKeyEnds() throws Exception {
    TestClient.Reply made =
        API.post("/v1/access/keys", json("name", "reader", "scopes", List.of("ids:read")));
    try (EventListener listener = listen(made.text("/secret"), null)) {
      upTo(listener, "head");
      assertThat(API.post("/v1/access/keys/" + made.text("/id") + "/revoke", "{}").status())
          .isEqualTo(200);
      while (listener.next() != null) {
        // Heads, until the gateway knows.
      }
    }
  }

  /** Only a single write has a limit. */
  @Test
  @Tag("faults")
  void aStreamGoesOnForLongerThanAWriteMayTake() throws Exception {
    try (EventListener listener = listen()) {
      long end = System.nanoTime() + Duration.ofSeconds(18).toNanos();
      while (System.nanoTime() < end) {
        listener.more();
      }
    }
  }

  @Test
  void aNumberThatIsForgottenOrAheadIsGone() {
    assertProblem(API.get(CHANGES + "?after=999999999"), "410 changes_forgotten");
    GATEWAY.execute("update coatcheck.change_head set number = number + 10");
    Awaitility.await()
        .untilAsserted(() -> assertProblem(API.get(CHANGES + "?after=0"), "410 changes_forgotten"));
  }

  @Test
  void badNumbersAreRefused() {
    TestClient hostile = API.hostile();
    for (String odd : List.of("-1", "x", "", "01", "9999999999999999999")) {
      assertProblem(hostile.get(CHANGES + "?after=" + odd), "400 parameter_invalid after");
    }
    assertProblem(hostile.get(CHANGES + "?since=1"), "400 parameter_unknown since");
    assertProblem(
        hostile.with("Last-Event-ID", "x").get(CHANGES), "400 header_invalid Last-Event-ID");
    assertProblem(GATEWAY.clientWith(Scope.TYPES_READ).get(CHANGES), "403 forbidden");
  }

  @Test
  void whoPollsGetsTheSameAsAListener() {
    TestClient.Reply begin = API.get(CHANGES);
    String id = revoked("user");
    Awaitility.await()
        .untilAsserted(
            () -> {
              TestClient.Reply next =
                  API.get(CHANGES + "?after=" + begin.body().at("/number").asLong());
              assertThat(next.body().at("/data/0/id").asString("")).isEqualTo(id);
              assertThat(next.body().at("/has_more").asBoolean()).isFalse();
              assertThat(next.body().at("/as_of_millis").asLong()).isLessThanOrEqualTo(0);
              assertThat(next.body().at("/number")).isEqualTo(next.body().at("/data/0/number"));
            });
  }

  /** Of its streams one API key has half, so that others find some. */
  @Test
  void oneKeyCantHaveAllStreams() throws Exception {
    List<EventListener> open = new ArrayList<>();
    try (GatewayFixture own = GatewayFixture.own("COATCHECK_CONNECTIONS_MAX", "2000")) {
      URI changes = own.uri().resolve(CHANGES);
      for (int i = 0; i < ChangeRoutes.STREAMS_MAX / 2; i++) {
        open.add(new EventListener(changes, own.key(), null));
        assertThat(open.getLast().response.statusCode()).isEqualTo(200);
      }
      try (EventListener oneMore = new EventListener(changes, own.key(), null)) {
        assertThat(oneMore.response.statusCode()).isEqualTo(503);
      }
      assertThat(own.client().get("/metrics").body().stringValue())
          .contains("coatcheck_requests_shed_total{route=\"/v1/changes\"} 1");
      try (EventListener other = new EventListener(changes, own.keyWith(Scope.IDS_READ), null)) {
        assertThat(other.response.statusCode()).isEqualTo(200);
      }
      open.removeLast().close();
      Awaitility.await()
          .until(
              () -> {
                try (EventListener again = new EventListener(changes, own.key(), null)) {
                  return again.response.statusCode() == 200;
                }
              });
    } finally {
      for (EventListener each : open) {
        each.close();
      }
    }
  }
}
