package dev.coatcheck.api.gateway;

import static dev.coatcheck.api.gateway.Doors.TO_THE_DOOR;
import static dev.coatcheck.api.gateway.Doors.TO_THE_ROUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.ids.redirect.ScanGuard;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A legacy ID that is followed without a request thread leads where the route would lead; nothing
 * is cached here, so each look-up waits for its rows.
 */
class FrontLegacyTest {
  /** Each request comes from another address, so that none is taken for a scan. */
  private static final AtomicLong VISITORS = new AtomicLong();

  @RegisterExtension
  static final GatewayFixture GATEWAY =
      GatewayFixture.own(
          "COATCHECK_MANAGEMENT_PORT",
          "0",
          "COATCHECK_CACHE_ENTRIES",
          "0",
          "COATCHECK_TRUSTED_PROXIES",
          "127.0.0.1");

  private static Doors doors;
  private static String id;

  @BeforeAll
  static void start() {
    doors = new Doors(GATEWAY);
    GATEWAY.client().put(TestType.of("charge", "ch"));
    id = numbered("numbered", "num", Map.of("max_id", "1000"));
    numbered("closed", "clo", Map.of("sunset_at", "2020-01-01T00:00:00Z"));
    numbered("unlisted", "unl", Map.of("public", false));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /legacy/numbered/42",
        "HEAD /legacy/numbered/42",
        "GET /legacy/numbered/42?utm_source=mail",
        "GET /legacy/numbered/43"
      })
  void aLegacyIdGivesTheSameBytesThroughBothDoors(String target) throws IOException {
    doors.requireSame(Doors.Seen::loaded, header -> asVisitor(target, header));
  }

  /** What the policy decides takes no row, and bad ones are left to the routes. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /legacy/closed/42", "GET /legacy/unlisted/42",
        "GET /legacy/numbered/1001", "GET /legacy/charge/42",
        "GET /legacy/nothing/42", "GET /legacy/numbered/042",
        "GET /legacy/numbered/x", "GET /legacy/numbered/-1",
        "GET /legacy/numbered/99999999999999999999", "GET /legacy/numbered/",
        "GET /legacy/numbered", "GET /legacy/",
        "GET /legacy//42", "GET /legacy/numbered/42/",
        "GET /legacy/a/numbered/42", "GET /legacy/numb%65red/42",
        "POST /legacy/numbered/42"
      })
  void aLegacyIdWithoutARowGivesTheSameBytesThroughBothDoors(String target) throws IOException {
    Doors.Seen before = doors.seen();

    Doors.requireSame(header -> asVisitor(target, header));

    assertThat(doors.seen().loaded()).isEqualTo(before.loaded());
  }

  /** By what the proxy asks for: to resolve, to redirect, to refuse bare keys. */
  @ParameterizedTest
  @CsvSource({
    "/numbered/42, resolve, pass",
    "/numbered/42?x=1, redirect, refuse",
    "/numbered/43, resolve, pass",
    "/numbered/43, redirect, pass",
    "/closed/42, redirect, pass",
  })
  void aProxiedLegacyIdGivesTheSameBytesThroughBothDoors(String uri, String legacy, String bare)
      throws IOException {
    boolean isLoaded = !uri.startsWith("/closed");
    doors.requireSame(
        isLoaded ? Doors.Seen::loaded : Doors.Seen::hot,
        header -> asProxy(uri, legacy, bare, header));
  }

  /** Two look-ups, a refused wish and an answer from memory. */
  @ParameterizedTest
  @CsvSource({
    "/numbered/42/numbered/42, resolve, pass",
    "/numbered/42/numbered/42, redirect, pass",
    "/numbered/42?id=ID, resolve, pass",
    "/numbered/42, nothing, pass",
    "/numbered/42, resolve, nothing",
    "/numbered/042, redirect, pass",
    "/numbered/1001, redirect, pass",
    "/bills/42, resolve, refuse",
  })
  void aProxiedLegacyIdThatIsLeftToTheRoutesGivesTheSameBytes(
      String uri, String legacy, String bare) throws IOException {
    String filled = uri.replace("ID", id);

    Doors.requireSame(header -> asProxy(filled, legacy, bare, header));
  }

  /** A look-up that begins anew must not count anew. */
  @Test
  void aLookUpThroughTheDoorIsCountedOnce() throws IOException {
    TestClient client = GATEWAY.client();
    numbered("counted", "cnt", Map.of());
    client.mint("counted", "legacy_id", "43");
    for (String legacy : List.of("resolve", "redirect")) {
      for (String path : List.of("/counted/42", "/counted/42/counted/43", "/counted/42?id=" + id)) {
        // A busy machine may answer 503, which counts nothing.
        await()
            .until(
                () -> asProxy(path, legacy, "pass", TO_THE_DOOR),
                reply -> !reply.contains(" 503 "));
      }
    }
    await().untilAsserted(() -> assertThat(client.legacyHits("counted")).isEqualTo(8));
  }

  /** By the visitor that the proxy names, which both doors have to see. */
  @Test
  void bothDoorsRefuseARedirectOfAScanAndOfNobodyElse() throws IOException {
    int door = 0;
    for (String header : List.of(TO_THE_ROUTES, TO_THE_DOOR)) {
      String scanner = "X-Forwarded-For: 192.0.2." + ++door;
      String refused = "X-Coatcheck-Status: 429";
      for (int number = 1; number <= ScanGuard.NUMBERS_MAX; number++) {
        assertThat(asProxyOf(scanner, 500 + number, header)).doesNotContain(refused);
      }
      int next = 501 + ScanGuard.NUMBERS_MAX;
      assertThat(asProxyOf(scanner, next, header)).contains(refused);
      assertThat(asProxyOf("X-Forwarded-For: 192.0.2.99", next, header)).doesNotContain(refused);
    }
  }

  /** The first of two look-ups is over before the second one waits. */
  @Test
  void aUriWithIdsOfBothKindsIsCountedTheSameThroughBothDoors() throws IOException {
    GATEWAY.client().get("/v1/ids/" + id);
    for (String header : List.of(TO_THE_ROUTES, TO_THE_DOOR)) {
      double before = doors.number("coatcheck_resolves_total");
      asProxy("/numbered/42?id=" + id, "resolve", "pass", header);

      assertThat(doors.number("coatcheck_resolves_total")).as(header).isEqualTo(before + 2);
    }
  }

  private static String asProxyOf(String visitor, int number, String header) throws IOException {
    return doors.raw(
        "GET /v1/urls/auth-request",
        List.of(
            doors.authorization(),
            "X-Original-URI: /numbered/" + number,
            "X-Coatcheck-Legacy: redirect",
            visitor,
            header));
  }

  private static String asProxy(String uri, String legacy, String bare, String header)
      throws IOException {
    return doors.raw(
        "GET /v1/urls/auth-request",
        List.of(
            doors.authorization(),
            "X-Original-URI: " + uri,
            "X-Coatcheck-Legacy: " + legacy,
            "X-Coatcheck-Bare-Keys: " + bare,
            "X-Forwarded-For: 203.0.113." + VISITORS.incrementAndGet() % 256,
            header));
  }

  /** The number that is one too many is the same, and it is told once. */
  @Test
  void bothDoorsRefuseAScanAtTheSameNumber() throws IOException {
    for (String header : List.of(TO_THE_ROUTES, TO_THE_DOOR)) {
      String visitor = "X-Forwarded-For: 198.51.100." + header.length();
      double scans = doors.number("coatcheck_legacy_scans_total");
      for (int number = 1; number <= ScanGuard.NUMBERS_MAX; number++) {
        assertThat(doors.raw("GET /legacy/numbered/" + number, List.of(visitor, header)))
            .startsWith("HTTP/1.1 404 ");
      }
      for (int more = 1; more <= 2; more++) {
        assertThat(doors.raw("GET /legacy/numbered/" + (500 + more), List.of(visitor, header)))
            .as("far away")
            .startsWith("HTTP/1.1 404 ");
      }
      for (int more = 1; more <= 2; more++) {
        String number = "" + (ScanGuard.NUMBERS_MAX + more);
        assertThat(doors.raw("GET /legacy/numbered/" + number, List.of(visitor, header)))
            .startsWith("HTTP/1.1 429 ");
      }
      assertThat(doors.number("coatcheck_legacy_scans_total")).isEqualTo(scans + 1);
    }
  }

  private static String asVisitor(String target, String header) throws IOException {
    String visitor = "X-Forwarded-For: 203.0.113." + VISITORS.incrementAndGet() % 256;
    return doors.raw(target, List.of(visitor, header));
  }

  private static String numbered(String type, String prefix, Map<String, Object> policy) {
    Map<String, Object> legacy = new HashMap<>(Map.of("public", true));
    legacy.putAll(policy);
    TestClient client = GATEWAY.client();
    client.put(
        TestType.of(type, prefix)
            .with("redirect", Map.of("template", "https://shop.example/{id}"))
            .with("legacy", legacy)
            .with(
                "url_templates",
                List.of(
                    "/%1$s/{legacy:%1$s}".formatted(type),
                    "/%1$s/{legacy:%1$s}/%1$s/{legacy:%1$s}".formatted(type))));
    return client
        .post("/v1/ids", "{\"type\":\"%s\",\"legacy_id\":\"42\"}".formatted(type))
        .text("/id");
  }
}
