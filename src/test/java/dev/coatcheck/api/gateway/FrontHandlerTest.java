package dev.coatcheck.api.gateway;

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
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An answer without a request thread is the answer that the routes would give. */
class FrontHandlerTest {
  private static final int TIMEOUT_MILLIS = 5_000;

  /** An API key is trusted for a second: on a slow machine it can be over between two requests. */
  private static final int TRIES_MAX = 10;

  /** The door leaves requests with this header to the routes, which don't care for it. */
  private static final String TO_THE_ROUTES = "Content-Length: 0";

  private static final Map<String, String> KEYS = new ConcurrentHashMap<>();
  private static final AtomicLong NEVER_MINTED = new AtomicLong(100);

  private static GatewayFixture gateway;
  private static String found;
  private static String hidden;

  @BeforeAll
  static void start() {
    gateway = new GatewayFixture(Map.of("COATCHECK_MANAGEMENT_PORT", "0"));
    found = minted("charge", "ch", Map.of("template", "https://shop.example/{id}"));
    hidden = minted("secret", "sec", Map.of("template", "https://a.example/", "public", false));
  }

  @AfterAll
  static void stop() {
    gateway.close();
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
    for (int tried = 1; ; tried++) {
      Seen before = Seen.now();
      String throughRoutes = nameless(answer(target, TO_THE_ROUTES));
      Seen between = Seen.once(before.counted() + 1);
      String throughDoor = nameless(answer(target, "Accept: */*"));
      Seen after = Seen.once(before.counted() + 2);

      assertThat(throughDoor).isEqualTo(throughRoutes);
      assertThat(between.hot()).isEqualTo(before.hot());
      assertThat(after.series()).as("one name in the metrics").isEqualTo(between.series());
      if (after.hot() == between.hot() + 1) {
        return;
      }
      assertThat(tried).as("tries to get %s through the door", target).isLessThan(TRIES_MAX);
    }
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
    String key = "Authorization: Bearer " + gateway.key();
    for (int tried = 1; ; tried++) {
      Seen before = Seen.now();
      String throughRoutes = nameless(raw(target, List.of(key, original, TO_THE_ROUTES)));
      Seen between = Seen.once(before.counted() + 1);
      String throughDoor = nameless(raw(target, List.of(key, original)));
      Seen after = Seen.once(before.counted() + 2);

      assertThat(throughDoor).isEqualTo(throughRoutes);
      assertThat(between.hot()).isEqualTo(before.hot());
      if (after.hot() == between.hot() + 1) {
        return;
      }
      assertThat(tried).as("tries to get %s through the door", uri).isLessThan(TRIES_MAX);
    }
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
    answer("GET /v1/ids/" + found, TO_THE_ROUTES);
    Seen before = Seen.now();

    assertThat(nameless(answer(target, "Accept: */*")))
        .isEqualTo(nameless(answer(target, TO_THE_ROUTES)));

    assertThat(Seen.now().hot()).isEqualTo(before.hot());
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
      Seen before = Seen.now();
      String throughDoor = plain(ask(request, other, "Accept: */*"), other);
      Seen after = Seen.once(before.counted() + 1);

      assertThat(throughDoor).isEqualTo(throughRoutes);
      assertThat(after.hot()).isEqualTo(before.hot());
      if (after.loaded() == before.loaded() + 1) {
        return;
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
        gateway.client().post("/v1/ids/" + each + "/revoke", "{}");
      }
      String throughRoutes = plain(ask(request, one, TO_THE_ROUTES), one);

      assertThat(plain(ask(request, two, "Accept: */*"), two)).isEqualTo(throughRoutes);
    }
  }

  /** Without what differs from one public ID to another. */
  private static String plain(String answer, String id) {
    return nameless(answer)
        .replace(id, "ID")
        .replace(KEYS.getOrDefault(id, id), "KEY")
        .replaceAll("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "TIME");
  }

  private static String ask(String request, String id, String header) throws IOException {
    String target = request.replaceFirst(" (ID|NONE)$", "").replaceFirst("(ID|NONE)$", id);
    return raw(
        target,
        List.of(
            "Authorization: Bearer " + gateway.key(), "X-Original-URI: /charges/" + id, header));
  }

  private static String mint(String type) {
    TestClient.Reply minted = gateway.client().mint(type);
    KEYS.put(minted.text("/id"), minted.text("/key"));
    return minted.text("/id");
  }

  private static String neverMinted() {
    return new PublicId(new Prefix("ch"), new Token(7, NEVER_MINTED.incrementAndGet())).toString();
  }

  @Test
  void theDoorAsksForTheSameKeyAsTheRoutes() throws IOException {
    String target = "GET /v1/ids/" + found;
    String mayNot = "Authorization: Bearer " + gateway.keyWith(Scope.IDS_WRITE);
    for (String authorization :
        List.of("Authorization: Basic eDp5", "Authorization: Bearer x", mayNot)) {
      String throughRoutes = raw(target, List.of(authorization, TO_THE_ROUTES));
      Seen before = Seen.now();
      String throughDoor = raw(target, List.of(authorization));

      assertThat(nameless(throughDoor)).isEqualTo(nameless(throughRoutes));
      assertThat(throughDoor).containsPattern("^HTTP/1.1 40[13]");
      assertThat(Seen.now().hot()).isEqualTo(before.hot());
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

      String throughDoor = raw(target, bad);

      assertThat(throughDoor).startsWith("HTTP/1.1 400 ");
      assertThat(nameless(throughDoor)).isEqualTo(nameless(raw(target, toTheRoutes)));
    }
  }

  @Test
  void requestsThatWaitForPostgresHoldUpNobodyAtTheDoor() throws IOException, InterruptedException {
    answer("GET /r/" + found, TO_THE_ROUTES);
    PublicId neverAskedFor = new PublicId(new Prefix("ch"), new Token(7, 7));
    List<Callable<String>> waiting = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      waiting.add(() -> answer("GET /r/" + neverAskedFor, "Accept: */*"));
    }
    try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
        TestSession locker = gateway.sql().begin("lock table coatcheck.public_id")) {
      List<Future<String>> waiters = waiting.stream().map(callers::submit).toList();

      await().until(() -> waitsForLock(locker));
      for (int i = 0; i < 20; i++) {
        assertThat(answer("GET /r/" + found, "Accept: */*")).startsWith("HTTP/1.1 302 ");
      }

      assertThat(waiters).noneMatch(Future::isDone);
      locker.rollback();
    }
  }

  /** One door makes a public ID; the other one finds it, where it has a name. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"type\":\"charge\"}",
        "{\"type\":\"charge\",\"key\":\"KEY\"}",
        "{\"type\":\"charge\",\"legacy_id\":\"42\"}",
        "{\"type\":\"charge\",\"client_id\":\"order-1\"}",
        "{\"type\":\"nothing\"}",
        "{\"type\":\"charge\",\"key\":\"x\"}",
        "{\"type\":\"charge\",\"more\":1}",
        "{\"type\":",
        "[]",
        "{\"type\":\"\\ud800\"}"
      })
  void aMintGivesTheSameBytesThroughBothDoors(String body) throws IOException {
    String json = body.replace("KEY", KEYS.computeIfAbsent(found, FrontHandlerTest::keyOf));
    List<String> headers =
        List.of("Authorization: Bearer " + gateway.key(), "Content-Type: application/json");
    List<String> toTheRoutes = new ArrayList<>(headers);
    toTheRoutes.add("Expect: 100-continue");
    send("POST /v1/ids", headers, json); // so that both find what has a name

    String throughRoutes =
        send("POST /v1/ids", toTheRoutes, json).replaceFirst("HTTP/1.1 100 .*\r\n\r\n", "");
    Seen before = Seen.now();
    String throughDoor = send("POST /v1/ids", headers, json);

    assertThat(unnumbered(throughDoor)).isEqualTo(unnumbered(throughRoutes));
    if (throughDoor.contains(" 201 ")) {
      assertThat(Seen.now().loaded()).isEqualTo(before.loaded() + 1);
    }
  }

  /** Without what no two mints have in common. */
  private static String unnumbered(String answer) {
    return nameless(answer)
        .replaceAll("\"id\":\"ch_[0-9A-Za-z]{24}\"", "ID")
        .replaceAll("\"key\":\"[0-9]+\"", "KEY")
        .replaceAll("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "TIME");
  }

  private static String keyOf(String id) {
    return gateway.client().get("/v1/ids/" + id).text("/key");
  }

  /** Access is decided at the time of the answer; a row that comes too late is 503. */
  @Test
  void aKeyThatIsRevokedWhileItsRequestWaitsGetsNoRow() throws Exception {
    String answer = "";
    for (int tried = 0; tried < TRIES_MAX && !answer.startsWith("HTTP/1.1 401 "); tried++) {
      answer = answerToARevokedKey();
      assertThat(answer).containsPattern("^HTTP/1.1 (401|503) ");
    }
    assertThat(answer).startsWith("HTTP/1.1 401 ");
  }

  private static String answerToARevokedKey() throws Exception {
    String id = mint("charge");
    String key = gateway.keyWith(Scope.IDS_READ);
    List<String> authorization = List.of("Authorization: Bearer " + key);
    raw("GET /v1/ids/" + found, authorization);
    try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
        TestSession locker = gateway.sql().begin("lock table coatcheck.public_id")) {
      Future<String> waiter = callers.submit(() -> raw("GET /v1/ids/" + id, authorization));
      await().until(() -> waitsForLock(locker) || waiter.isDone());
      gateway.revokeKey(key);
      await().until(() -> raw("GET /v1/ids/" + found, authorization).startsWith("HTTP/1.1 401 "));
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

  /** What the metrics say of the answers to requests. */
  private record Seen(double hot, double loaded, double counted, int series) {
    private static final Pattern LOADED =
        Pattern.compile("coatcheck_requests_loaded_total ([0-9.E]+)");
    private static final Pattern CACHED =
        Pattern.compile("coatcheck_requests_cached_total ([0-9.E]+)");
    private static final Pattern COUNTED =
        Pattern.compile("coatcheck_requests_seconds_count\\{.*\\} ([0-9.E]+)");

    /** A request is counted after its answer is sent. */
    static Seen once(double counted) {
      return await().until(Seen::now, seen -> seen.counted() == counted);
    }

    static Seen now() throws IOException {
      URI management = gateway.managementUri();
      String text =
          RawHttp.send(
                  management.getHost(),
                  management.getPort(),
                  RawHttp.request(
                      List.of("GET /metrics HTTP/1.1", "Host: a", "Connection: close"),
                      new byte[0]))
              .body();
      // The scrapes count themselves.
      List<Double> counted =
          COUNTED
              .matcher(text.replaceAll("(?m)^.*route=\"/metrics\".*$", ""))
              .results()
              .map(Seen::number)
              .toList();
      return new Seen(
          CACHED.matcher(text).results().mapToDouble(Seen::number).sum(),
          LOADED.matcher(text).results().mapToDouble(Seen::number).sum(),
          counted.stream().mapToDouble(Double::doubleValue).sum(),
          counted.size());
    }

    private static double number(MatchResult match) {
      return Double.parseDouble(match.group(1));
    }
  }

  private static String answer(String target, String header) throws IOException {
    return raw(target, List.of("Authorization: Bearer " + gateway.key(), header));
  }

  /** All bytes of an answer, headers in their order. */
  private static String raw(String target, List<String> headers) throws IOException {
    return send(target, headers, "");
  }

  private static String send(String target, List<String> headers, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    List<String> lines = new ArrayList<>(List.of(target + " HTTP/1.1", "Host: a"));
    lines.addAll(headers);
    lines.add("Connection: close");
    if (bytes.length > 0) {
      lines.add("Content-Length: " + bytes.length);
    }
    try (Socket socket = new Socket(gateway.uri().getHost(), gateway.uri().getPort())) {
      socket.setSoTimeout(TIMEOUT_MILLIS);
      socket.getOutputStream().write(RawHttp.request(lines, bytes));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    }
  }

  /** The answer without its date and its name, which has not always the same length. */
  private static String nameless(String answer) {
    MatchResult name =
        Pattern.compile("Request-Id: (\\S+)").matcher(answer).results().findFirst().orElseThrow();
    String rest = answer.replaceFirst("Date: .*", "Date").replace(name.group(1), "");
    if (!answer.contains("application/problem+json")) {
      return rest;
    }
    return Pattern.compile("Content-Length: ([0-9]+)")
        .matcher(rest)
        .replaceFirst(
            length ->
                "Content-Length: " + (Integer.parseInt(length.group(1)) - name.group(1).length()));
  }

  private static String minted(String type, String prefix, Map<String, Object> redirect) {
    TestClient client = gateway.client();
    client.put(TestType.of(type, prefix).with("redirect", redirect));
    return client.mint(type).text("/id");
  }
}
