package dev.coatcheck.api.gateway;

import static dev.coatcheck.api.gateway.Doors.TO_THE_DOOR;
import static dev.coatcheck.api.gateway.Doors.TO_THE_ROUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.RawHttp;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestSession;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.hashids.Hashids;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An answer without a request thread is the answer that the routes would give. */
class FrontHandlerTest {
  /** An API key is trusted for a second: on a slow machine it can be over between two requests. */
  private static final int TRIES_MAX = 10;

  /** As many requests of an API key may wait for their rows. */
  private static final int WAITING_MAX = 1_024;

  private static final String UUID = "01890a5d-ac96-774b-bcce-b302099a8057";
  private static final String HASHID = "inv-" + new Hashids("salt", 8).encode(42);
  private static final Map<String, String> KEYS = new ConcurrentHashMap<>();
  private static final AtomicLong NEVER_MINTED = new AtomicLong(100);

  @RegisterExtension
  static final GatewayFixture GATEWAY = GatewayFixture.own("COATCHECK_MANAGEMENT_PORT", "0");

  private static Doors doors;
  private static String found;
  private static String hidden;

  @BeforeAll
  static void start() {
    doors = new Doors(GATEWAY);
    found = minted("charge", "ch", Map.of("template", "https://shop.example/{id}"));
    hidden = minted("secret", "sec", Map.of("template", "https://a.example/", "public", false));
    GATEWAY
        .client()
        .put(
            TestType.of("invoice", "invoice")
                .redirect("https://shop.example/{id}")
                .with("legacy", Map.of())
                .and(
                    """
                    {"public_rule":{"scheme":"hashids","salt":"salt","min_length":8,
                                    "text_prefix":"inv-"}}
                    """));
    GATEWAY
        .client()
        .put(
            TestType.of("photo", "photo")
                .redirect("https://shop.example/{id}")
                .with("public_pattern", TestType.pattern("photo-", "0123456789", 1, 20)));
    GATEWAY.client().mint("invoice", "legacy_id", "42");
  }

  /** A third word is the URI that a proxy asks about. What was never issued is remembered too. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /r/FOUND",
        "HEAD /r/FOUND",
        "GET /r/FOUND?utm_source=mail",
        "GET /r/HIDDEN",
        "HEAD /r/HIDDEN",
        "GET /r/ch_00000000000000000000002C",
        "HEAD /r/x",
        "GET /v1/ids/FOUND",
        "GET /v1/ids/HIDDEN",
        "GET /v1/ids/ch_00000000000000000000002C",
        "GET /v1/ids/nothing",
        "GET /v1/ids/ch_00000000000000000000002B",
        "GET /r/ch_00000000000000000000002B",
        "GET /v1/urls/auth-request /charges/FOUND/refunds?limit=3&other=FOUND",
        "GET /v1/urls/auth-request /nothing/here",
        "GET /v1/urls/auth-request /charges/ch_00000000000000000000002B",
        "GET /v1/urls/auth-request /charges/ch_00000000000000000000002C",
        "GET /v1/urls/auth-request /a//b",
        "GET /legacy/invoice/42",
        "HEAD /legacy/invoice/42",
        "GET /legacy/invoice/HASHID",
        "GET /r/HASHID",
        "GET /v1/ids/HASHID",
        "GET /r/inv-",
        "GET /r/-",
        "GET /v1/ids/inv--x",
        "GET /v1/ids/UUID",
        "GET /legacy/invoice/photo-x",
        "GET /legacy/invoice/--------"
      })
  void whatMemoryKnowsGivesTheSameBytesThroughBothDoors(String request) throws IOException {
    doors.requireSame(Doors.Seen::hot, header -> ask(request, header));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /r/HIDDEN",
        "HEAD /r/x",
        "GET /r/ch_00000000000000000000002B",
        "GET /legacy/invoice/--------"
      })
  void aBrowserGetsTheSameBytesThroughBothDoors(String request) throws IOException {
    doors.requireSame(Doors.Seen::hot, header -> browse(request, header));
  }

  private static String browse(String request, String header) throws IOException {
    List<String> headers = new ArrayList<>(List.of("Accept: text/html"));
    if (header.equals(TO_THE_ROUTES)) {
      headers.add(header);
    }
    String page = doors.raw(request.replace("HIDDEN", hidden), headers);
    assertThat(page).contains("text/html");
    return page;
  }

  /** None is remembered: a name may be given at any time. */
  @ParameterizedTest
  @ValueSource(strings = {"GET /v1/ids/photo-4711", "GET /r/photo-4711", "GET /legacy/invoice/43"})
  void aNameThatNobodyHasIsLookedUpEachTimeThroughBothDoors(String request) throws IOException {
    doors.requireSame(Doors.Seen::loaded, header -> ask(request, header));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "POST /r/FOUND",
        "HEAD /v1/ids/FOUND",
        "GET /v1/ids/FOUND?x=1",
        "GET /r/%66",
        "GET /r/FOUND/",
        "GET /r/"
      })
  void whatMemoryCannotDecideIsLeftToTheRoutes(String request) throws IOException {
    ask("GET /v1/ids/FOUND", TO_THE_ROUTES);
    Doors.Seen before = doors.seen();

    Doors.requireSame(header -> ask(request, header));

    assertThat(doors.seen().hot()).isEqualTo(before.hot());
  }

  private static String ask(String request, String header) throws IOException {
    Map<String, String> values =
        Map.of("FOUND", found, "HIDDEN", hidden, "HASHID", HASHID, "UUID", UUID);
    String filled = request;
    for (Map.Entry<String, String> value : values.entrySet()) {
      filled = filled.replace(value.getKey(), value.getValue());
    }
    String[] words = filled.split(" ", -1);
    List<String> headers = new ArrayList<>(List.of(doors.authorization(), header));
    if (words.length == 3) {
      headers.add("X-Original-URI: " + words[2]);
    }
    return doors.raw(words[0] + " " + words[1], headers);
  }

  /** Each public ID is asked for once through each door, so nothing is in memory. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /r/ID",
        "HEAD /r/ID",
        "GET /v1/ids/ID",
        "GET /v1/urls/auth-request /charges/ID",
        "GET /r/NONE",
        "GET /v1/ids/NONE"
      })
  void aRowThatHasToBeReadGivesTheSameBytesThroughBothDoors(String request) throws IOException {
    for (int tried = 1; ; tried++) {
      String id = request.contains("NONE") ? neverMinted() : mint("charge");
      String other = request.contains("NONE") ? neverMinted() : mint("charge");
      String throughRoutes = plain(askFor(id, request, TO_THE_ROUTES), id);
      Doors.Seen before = doors.seen();
      String throughDoor = plain(askFor(other, request, TO_THE_DOOR), other);
      Doors.Seen after = doors.seenOnce(before.counted() + 1);

      if (!Doors.isUnavailable(throughRoutes) && !Doors.isUnavailable(throughDoor)) {
        assertThat(throughDoor).isEqualTo(throughRoutes);
        assertThat(after.hot()).isEqualTo(before.hot());
        if (after.loaded() == before.loaded() + 1) {
          return;
        }
      }
      assertThat(tried).as("tries to get %s through the door", request).isLessThan(TRIES_MAX);
    }
  }

  /** The ending has to be read as well, which the routes do. */
  @Test
  void anEndedIdGivesTheSameBytesThroughBothDoors() throws IOException {
    for (String request :
        List.of("GET /r/ID", "GET /v1/ids/ID", "GET /v1/urls/auth-request /charges/ID")) {
      String one = mint("charge");
      String two = mint("charge");
      for (String each : List.of(one, two)) {
        GATEWAY.client().post("/v1/ids/" + each + "/revoke", "{}");
      }
      String throughRoutes = plain(askFor(one, request, TO_THE_ROUTES), one);

      assertThat(plain(askFor(two, request, TO_THE_DOOR), two)).isEqualTo(throughRoutes);
    }
  }

  /** Without what differs from one public ID to another. */
  private static String plain(String answer, String id) {
    return Doors.timeless(
        Doors.nameless(answer).replace(id, "ID").replace(KEYS.getOrDefault(id, id), "KEY"));
  }

  private static String askFor(String id, String request, String header) throws IOException {
    return ask(request.replaceFirst("(ID|NONE)$", id), header);
  }

  private static String mint(String type) {
    TestClient.Reply minted = GATEWAY.client().mint(type);
    KEYS.put(minted.text("/id"), minted.text("/key"));
    return minted.text("/id");
  }

  private static String neverMinted() {
    return new PublicId(new Prefix("ch"), new Token(7, NEVER_MINTED.incrementAndGet())).toString();
  }

  @Test
  void everyRequestThatWaitsGivesItsPermitBack() throws IOException {
    try (Socket socket = new Socket(GATEWAY.uri().getHost(), GATEWAY.uri().getPort())) {
      InputStream in = new BufferedInputStream(socket.getInputStream());
      for (int i = 0; i <= WAITING_MAX; i++) {
        List<String> lines =
            List.of("GET /v1/ids/" + neverMinted() + " HTTP/1.1", "Host: a", doors.authorization());
        socket.getOutputStream().write(RawHttp.request(lines, new byte[0]));
        RawHttp.Reply reply = RawHttp.read(in, false);
        // A machine that stands still is an outage; a permit that is missing is none.
        assertThat(reply.statusLine() + reply.body())
            .containsAnyOf(" 404 ", "database_unavailable")
            .doesNotContain("overloaded");
      }
    }
  }

  /** One door makes a public ID; the other one finds it, where it has a name. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"type\":\"charge\"}",
        "{\"type\":\"charge\",\"key\":\"4711\"}",
        "{\"type\":\"charge\",\"legacy_id\":\"42\"}",
        "{\"type\":\"charge\",\"client_id\":\"order-1\"}",
        "{\"type\":\"nothing\"}",
        "{\"type\":\"charge\",\"key\":\"x\"}",
        "{\"type\":\"charge\",\"more\":1}",
        "{\"type\":",
        "[]",
        "{\"type\":\"\\ud800\"}"
      })
  void aMintGivesTheSameBytesThroughBothDoors(String json) throws IOException {
    List<String> headers = List.of(doors.authorization(), "Content-Type: application/json");
    List<String> toTheRoutes = new ArrayList<>(headers);
    toTheRoutes.add("Expect: 100-continue");
    doors.send("POST /v1/ids", headers, json); // so that both find what has a name

    String throughRoutes =
        doors.send("POST /v1/ids", toTheRoutes, json).replaceFirst("HTTP/1.1 100 .*\r\n\r\n", "");
    Doors.Seen before = doors.seen();
    String throughDoor = doors.send("POST /v1/ids", headers, json);

    assertThat(unnumbered(throughDoor)).isEqualTo(unnumbered(throughRoutes));
    if (throughDoor.contains(" 201 ")) {
      assertThat(doors.seenOnce(before.counted() + 1).loaded()).isEqualTo(before.loaded() + 1);
    }
  }

  /** Without what no two mints have in common. */
  private static String unnumbered(String answer) {
    return Doors.timeless(
        Doors.nameless(answer)
            .replaceAll("\"id\":\"ch_[0-9A-Za-z]{24}\"", "ID")
            .replaceAll("\"key\":\"[0-9]+\"", "KEY"));
  }

  @Test
  void theDoorAsksForTheSameKeyAsTheRoutes() throws IOException {
    String target = "GET /v1/ids/" + found;
    String mayNot = "Authorization: Bearer " + GATEWAY.keyWith(Scope.IDS_WRITE);
    for (String authorization :
        List.of("Authorization: Basic eDp5", "Authorization: Bearer x", mayNot)) {
      String throughRoutes = doors.raw(target, List.of(authorization, TO_THE_ROUTES));
      Doors.Seen before = doors.seen();
      String throughDoor = doors.raw(target, List.of(authorization));

      assertThat(Doors.nameless(throughDoor)).isEqualTo(Doors.nameless(throughRoutes));
      assertThat(throughDoor).containsPattern("^HTTP/1.1 40[13]");
      assertThat(doors.seen().hot()).isEqualTo(before.hot());
    }
  }

  @Test
  void badHeadersAreRefusedBeforeBothDoors() throws IOException {
    String target = "GET /r/" + found;
    for (List<String> bad :
        List.of(
            List.of("Authorization: Bearer a", "Authorization: Bearer b"),
            List.of("Idempotency-Key: \u00e9"))) {
      List<String> toTheRoutes = new ArrayList<>(bad);
      toTheRoutes.add(TO_THE_ROUTES);

      String throughDoor = doors.raw(target, bad);

      assertThat(throughDoor).startsWith("HTTP/1.1 400 ");
      assertThat(Doors.nameless(throughDoor))
          .isEqualTo(Doors.nameless(doors.raw(target, toTheRoutes)));
    }
  }

  @Test
  void requestsThatWaitForPostgresHoldUpNobodyAtTheDoor() throws IOException, InterruptedException {
    doors.answer("GET /r/" + found, TO_THE_ROUTES);
    await().atMost(Duration.ofMinutes(2)).until(FrontHandlerTest::hitsOvertakeMisses);
  }

  /** False if a miss had to give up first, as it does after a second. */
  private static boolean hitsOvertakeMisses() throws IOException, InterruptedException {
    PublicId neverAskedFor = new PublicId(new Prefix("ch"), new Token(7, 7));
    List<Callable<String>> waiting = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      waiting.add(() -> doors.answer("GET /r/" + neverAskedFor, TO_THE_DOOR));
    }
    try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
        TestSession locker = GATEWAY.sql().begin("lock table coatcheck.public_id")) {
      List<Future<String>> waiters = waiting.stream().map(callers::submit).toList();

      await().until(() -> waitsForLock(locker) || waiters.stream().anyMatch(Future::isDone));
      for (int i = 0; i < 20; i++) {
        assertThat(doors.answer("GET /r/" + found, TO_THE_DOOR)).startsWith("HTTP/1.1 302 ");
      }

      boolean allWait = waiters.stream().noneMatch(Future::isDone);
      locker.rollback();
      return allWait;
    }
  }

  /** Access is decided at the time of the answer; a row that comes too late is 503. */
  @Test
  void aKeyThatIsRevokedWhileItsRequestWaitsGetsNoRow() throws Exception {
    String answer = "";
    long beganNano = System.nanoTime();
    while (!answer.startsWith("HTTP/1.1 401 ")
        && System.nanoTime() - beganNano < Duration.ofMinutes(3).toNanos()) {
      answer = answerToARevokedKey();
      assertThat(answer).containsPattern("^HTTP/1.1 (401|503) ");
    }
    assertThat(answer).startsWith("HTTP/1.1 401 ");
  }

  private static String answerToARevokedKey() throws Exception {
    String id = mint("charge");
    String key = GATEWAY.keyWith(Scope.IDS_READ);
    List<String> authorization = List.of("Authorization: Bearer " + key);
    doors.raw("GET /v1/ids/" + found, authorization);
    try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
        TestSession locker = GATEWAY.sql().begin("lock table coatcheck.public_id")) {
      Future<String> waiter = callers.submit(() -> doors.raw("GET /v1/ids/" + id, authorization));
      await().until(() -> waitsForLock(locker) || waiter.isDone());
      // By the gateway itself, which takes milliseconds: the waiter gives up after 900.
      String keyId = "key_" + key.split("_", -1)[2];
      assertThat(GATEWAY.client().post("/v1/access/keys/" + keyId + "/revoke", "{}").status())
          .isEqualTo(200);
      await()
          .until(
              () -> doors.raw("GET /v1/ids/" + found, authorization).startsWith("HTTP/1.1 401 "));
      locker.rollback();
      return waiter.get();
    }
  }

  private static boolean waitsForLock(TestSession session) {
    return session.number(
            "select count(*) from pg_locks where not granted and relation ="
                + " 'coatcheck.public_id'::regclass")
        > 0;
  }

  @Test
  void metricsNeedNoKeyOnTheManagementPortAndAreNowhereElse() throws IOException {
    assertThat(onManagementPort("/metrics").body()).contains("coatcheck_requests");
    assertThat(onManagementPort("/health/ready").statusLine()).contains(" 200 ");
    assertThat(onManagementPort("/v1/types").statusLine()).contains(" 404 ");
    assertThat(GATEWAY.client().get("/metrics").status()).isEqualTo(404);
  }

  /** Without a key, and not judged by the contract, which speaks of the gateway's own port. */
  private static RawHttp.Reply onManagementPort(String path) throws IOException {
    return RawHttp.send(
        "127.0.0.1",
        GATEWAY.managementUri().getPort(),
        RawHttp.request(
            List.of("GET " + path + " HTTP/1.1", "Host: a", "Connection: close"), new byte[0]));
  }

  private static String minted(String type, String prefix, Map<String, Object> redirect) {
    TestClient client = GATEWAY.client();
    client.put(TestType.of(type, prefix).with("redirect", redirect));
    return client.mint(type).text("/id");
  }
}
