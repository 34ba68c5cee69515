package dev.coatcheck.api.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestSession;
import java.io.IOException;
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

  /** The door leaves requests with this header to the routes, which don't care for it. */
  private static final String TO_THE_ROUTES = "Content-Length: 0";

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
  }

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
        // Well formed and never issued: that is remembered as well.
        "GET /v1/ids/ch_00000000000000000000002B",
        "GET /r/ch_00000000000000000000002B"
      })
  void bothDoorsGiveTheSameBytes(String request) throws IOException {
    String target = request.replace("FOUND", found).replace("HIDDEN", hidden);
    doors.requireSame(
        Doors.Seen::hot,
        () -> doors.answer(target, TO_THE_ROUTES),
        () -> doors.answer(target, "Accept: */*"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/charges/FOUND",
        "/charges/FOUND/refunds?limit=3&other=FOUND",
        "/nothing/here",
        "/charges/ch_00000000000000000000002B",
        "/charges/ch_00000000000000000000002C",
        "/a//b"
      })
  void aProxyGetsTheSameBytesThroughBothDoors(String uri) throws IOException {
    String target = "GET /v1/urls/auth-request";
    String original = "X-Original-URI: " + uri.replace("FOUND", found);
    String key = doors.authorization();
    doors.requireSame(
        Doors.Seen::hot,
        () -> doors.raw(target, List.of(key, original, TO_THE_ROUTES)),
        () -> doors.raw(target, List.of(key, original)));
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
    String target = request.replace("FOUND", found);
    doors.answer("GET /v1/ids/" + found, TO_THE_ROUTES);
    Doors.Seen before = doors.seen();

    assertThat(Doors.nameless(doors.answer(target, "Accept: */*")))
        .isEqualTo(Doors.nameless(doors.answer(target, TO_THE_ROUTES)));

    assertThat(doors.seen().hot()).isEqualTo(before.hot());
  }

  /** Each public ID is asked for once through each door, so nothing is in memory. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /r/ID",
        "HEAD /r/ID",
        "GET /v1/ids/ID",
        "GET /v1/urls/auth-request ID",
        "GET /r/NONE",
        "GET /v1/ids/NONE"
      })
  void aRowThatHasToBeReadGivesTheSameBytesThroughBothDoors(String request) throws IOException {
    for (int tried = 1; ; tried++) {
      String id = request.contains("NONE") ? neverMinted() : mint("charge");
      String other = request.contains("NONE") ? neverMinted() : mint("charge");
      String throughRoutes = plain(ask(request, id, TO_THE_ROUTES), id);
      Doors.Seen before = doors.seen();
      String throughDoor = plain(ask(request, other, "Accept: */*"), other);
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
    for (String request : List.of("GET /r/ID", "GET /v1/ids/ID", "GET /v1/urls/auth-request ID")) {
      String one = mint("charge");
      String two = mint("charge");
      for (String each : List.of(one, two)) {
        GATEWAY.client().post("/v1/ids/" + each + "/revoke", "{}");
      }
      String throughRoutes = plain(ask(request, one, TO_THE_ROUTES), one);

      assertThat(plain(ask(request, two, "Accept: */*"), two)).isEqualTo(throughRoutes);
    }
  }

  /** Without what differs from one public ID to another. */
  private static String plain(String answer, String id) {
    return Doors.nameless(answer)
        .replace(id, "ID")
        .replace(KEYS.getOrDefault(id, id), "KEY")
        .replaceAll("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "TIME");
  }

  private static String ask(String request, String id, String header) throws IOException {
    String target = request.replaceFirst(" (ID|NONE)$", "").replaceFirst("(ID|NONE)$", id);
    return doors.raw(
        target, List.of(doors.authorization(), "X-Original-URI: /charges/" + id, header));
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
    for (int i = 0; i <= WAITING_MAX; i++) {
      assertThat(doors.answer("GET /v1/ids/" + neverMinted(), "Accept: */*"))
          .startsWith("HTTP/1.1 404 ");
    }
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
      waiting.add(() -> doors.answer("GET /r/" + neverAskedFor, "Accept: */*"));
    }
    try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
        TestSession locker = GATEWAY.sql().begin("lock table coatcheck.public_id")) {
      List<Future<String>> waiters = waiting.stream().map(callers::submit).toList();

      await().until(() -> waitsForLock(locker) || waiters.stream().anyMatch(Future::isDone));
      for (int i = 0; i < 20; i++) {
        assertThat(doors.answer("GET /r/" + found, "Accept: */*")).startsWith("HTTP/1.1 302 ");
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
      GATEWAY.revokeKey(key);
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

  private static String minted(String type, String prefix, Map<String, Object> redirect) {
    TestClient client = GATEWAY.client();
    client.put(TestType.of(type, prefix).with("redirect", redirect));
    return client.mint(type).text("/id");
  }
}
