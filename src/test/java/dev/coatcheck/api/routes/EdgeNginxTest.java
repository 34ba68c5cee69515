package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.FreePort;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.redirect.ScanGuard;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code docs/edge/nginx.conf} in a real nginx between a client, a gateway and a service. Order 7
 * has the key 42; ORDER stands for its public ID.
 */
class EdgeNginxTest {
  private static final String UNKNOWN = "ch_00000000000000000000002B";
  private static final String TYPO = "ch_00000000000000000000002C";

  @TempDir private static Path folder;
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static EdgeService service;
  private static Nginx nginx;
  private static Nginx redirecting;
  private static String id;
  private static String key;
  private static String revoked;
  private static String merged;
  private static String order;

  @BeforeAll
  static void start() throws IOException {
    assumeTrue(Nginx.isInstalled(), "nginx with http_auth_request_module is not installed");
    TestClient client = GATEWAY.client();
    client.put(TestType.of("charge", "ch"));
    TestClient.Reply minted = client.mint("charge");
    id = minted.text("/id");
    key = minted.text("/key");
    revoked = client.mint("charge").text("/id");
    client.post("/v1/ids/" + revoked + "/revoke", json("reason", "a secret"));
    merged = client.mint("charge").text("/id");
    client.post("/v1/ids/" + merged + "/merge", json("into", id));
    client.put(
        TestType.of("order", "ord")
            .with(
                "legacy",
                Map.of(
                    "deprecated_at", "2026-01-01T00:00:00Z",
                    "sunset_at", "2999-01-06T07:08:09Z",
                    "max_age_seconds", 60))
            .with(
                "url_templates",
                List.of("/orders/{legacy:order}", "/orders/{legacy:order}/refunds")));
    client.put(
        TestType.of("over", "ov")
            .with("legacy", Map.of("sunset_at", "2021-02-03T04:05:06Z"))
            .with("url_templates", List.of("/over/{legacy:over}")));
    order = client.mint("order", "key", "42", "legacy_id", "7").text("/id");
    service = new EdgeService();
    nginx = nginx("resolve");
    redirecting = nginx("redirect");
  }

  private static Nginx nginx(String legacy) throws IOException {
    return new Nginx(
        Files.createDirectory(folder.resolve(legacy)),
        GATEWAY.uri().getPort(),
        GATEWAY.keyWith(Scope.IDS_READ),
        service.port(),
        legacy);
  }

  @AfterAll
  static void stop() {
    if (nginx != null) {
      nginx.close();
      redirecting.close();
      service.close();
    }
  }

  @BeforeEach
  void forget() {
    service.forget();
  }

  @ParameterizedTest
  @CsvSource({
    "/charges/ID, /charges/KEY",
    "/charges/ID?expand=customer&limit=3, /charges/KEY?expand=customer&limit=3",
    "/charges/ID:refund?x=%2F%20+, /charges/KEY:refund?x=%2F%20+",
    "/charges/MERGED, /charges/KEY",
    "/, /",
  })
  void theServiceGetsKeys(String asked, String served) throws IOException {
    RawHttp.Reply reply = send("GET " + filled(asked), List.of(), "");

    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.body()).isEqualTo("served");
    EdgeService.Seen seen = service.one();
    assertThat(seen.uri()).isEqualTo(filled(served));
    assertThat(seen.header("X-original-uri")).isEqualTo(filled(asked));
  }

  @Test
  void methodBodyAndTheClientsOwnCredentialsArrive() throws IOException {
    RawHttp.Reply reply =
        send(
            "POST /charges/" + id + "/refunds",
            List.of("Authorization: Bearer of-the-client", "Content-Length: 11", "Cookie: a=b"),
            json("cents", 4));

    assertThat(reply.status()).isEqualTo(200);
    EdgeService.Seen seen = service.one();
    assertThat(seen.method()).isEqualTo("POST");
    assertThat(seen.uri()).isEqualTo("/charges/" + key + "/refunds");
    assertThat(seen.body()).isEqualTo(json("cents", 4));
    assertThat(seen.header("Authorization")).isEqualTo("Bearer of-the-client");
    assertThat(seen.header("Cookie")).isEqualTo("a=b");
    assertThat(seen.header("X-resolved-types")).isEqualTo("charge");
  }

  @ParameterizedTest
  @CsvSource({
    "/charges/" + UNKNOWN + ", 404, public_id_unknown",
    "/charges/" + TYPO + ", 400, public_id_malformed",
    "/charges/REVOKED, 410, public_id_revoked",
    "/charges/%252e%252e/ID, 400, url_invalid",
    "//42, 400, url_invalid",
  })
  void aUriThatCannotBeResolvedNeverReachesTheService(String asked, int status, String code)
      throws IOException {
    RawHttp.Reply reply = send("POST " + filled(asked), List.of("Content-Length: 0"), "");

    assertThat(reply.status()).isEqualTo(status);
    assertThat(reply.headers().get("Content-Type")).containsExactly("application/problem+json");
    assertThat(reply.headers().get("Cache-Control")).containsExactly("no-store");
    assertThat(reply.headers()).doesNotContainKeys("Retry-After", "X-Coatcheck-Problem");
    assertThat(reply.body())
        .contains("\"status\":" + status, "\"code\":\"" + code + "\"", "\"request_id\":")
        .doesNotContain("secret", "ended_at");
    assertThat(service.sawNothing()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/KEY", "/charges/KEY.json", "/charges/%34%32", "/x/UU/"})
  void aBareKeyIs404(String asked) throws IOException {
    String uri = filled(asked).replace("UU", "01A1FD3C-753A-7C3E-9A41-6F0D2BE8175C");

    assertThat(send("GET " + uri, List.of(), "").status()).isEqualTo(404);
    assertThat(service.sawNothing()).isTrue();
  }

  @Test
  void aUriHasAnEnd() throws IOException {
    assertThat(send("GET /" + "x".repeat(4_095), List.of(), "").status()).isEqualTo(200);
    assertThat(service.one().uri()).hasSize(4_096);
    assertThat(send("GET /" + "x".repeat(4_096), List.of(), "").status()).isEqualTo(414);
    assertThat(send("GET " + ("/" + id).repeat(50), List.of(), "").status()).isEqualTo(200);
    assertThat(service.one().uri()).isEqualTo(("/" + key).repeat(50));
    assertThat(send("GET " + ("/" + id).repeat(51), List.of(), "").status()).isEqualTo(400);
  }

  /** Coatcheck takes a head of 8 KiB, and nginx a longer one. */
  @Test
  void whereAClientComesFromMayBeLong() throws IOException {
    RawHttp.Reply reply =
        send(
            "GET /" + "x".repeat(4_095),
            List.of("Referer: " + "r".repeat(4_096), "User-Agent: " + "u".repeat(4_096)),
            "");

    assertThat(reply.status()).isEqualTo(200);
    assertThat(service.one().header("Referer")).hasSize(4_096);
  }

  @Test
  void aClientCannotSayItselfWhatWasResolved() throws IOException {
    send(
        "GET /charges/" + id,
        List.of(
            "X-Resolved-URI: /evil",
            "X-Resolved-Types: admin",
            "X-Original-URI: /evil",
            "X-Coatcheck-Status: 200"),
        "");

    EdgeService.Seen seen = service.one();
    assertThat(seen.uri()).isEqualTo("/charges/" + key);
    assertThat(seen.header("X-resolved-uri")).isEmpty();
    assertThat(seen.header("X-resolved-types")).isEqualTo("charge");
    assertThat(seen.header("X-original-uri")).isEqualTo("/charges/" + id);
    assertThat(send("GET /_coatcheck", List.of(), "").status()).isEqualTo(404);
  }

  @ParameterizedTest
  @ValueSource(ints = {201, 400, 401, 403, 404, 410, 500, 503})
  void whatTheServiceAnswersPasses(int status) throws IOException {
    RawHttp.Reply reply = send("GET /charges/" + id, List.of("Test-Answer: " + status), "");

    assertThat(reply.status()).isEqualTo(status);
    assertThat(reply.body()).isEqualTo("served");
    service.one();
  }

  @ParameterizedTest
  @CsvSource({
    "/charges/KEY/refunds/new, /charges/ID/refunds/new",
    "/charges/KEY1/x, /charges/KEY1/x",
    "/elsewhere, /elsewhere",
    "https://other.example/KEY, https://other.example/KEY",
  })
  void aLocationBelowTheRequestedUriBecomesPublic(String said, String sent) throws IOException {
    RawHttp.Reply reply =
        send("POST /charges/" + id, List.of("Test-Answer: 303 " + filled(said)), "");

    assertThat(reply.status()).isEqualTo(303);
    assertThat(String.join("", reply.headers().getOrDefault("Location", List.of())))
        .isEqualTo(filled(sent));
    service.one();
  }

  @Test
  void withoutAGatewayOrAGoodKeyItIs503() throws IOException {
    try (Nginx noGateway = other("no-gateway", FreePort.next(), "x");
        Nginx badKey = other("bad-key", GATEWAY.uri().getPort(), "ccg_live_wrong");
        Nginx wrongScope =
            other("scope", GATEWAY.uri().getPort(), GATEWAY.keyWith(Scope.IDS_WRITE))) {
      for (Nginx broken : List.of(noGateway, badKey, wrongScope)) {
        for (String path : List.of("/charges/" + id, "/", "/charges/" + UNKNOWN)) {
          RawHttp.Reply reply =
              RawHttp.sendOnce("127.0.0.1", broken.port(), bytes("GET " + path, List.of(), ""));

          assertThat(reply.status()).isEqualTo(503);
          assertThat(reply.headers().get("Content-Type"))
              .containsExactly("application/problem+json");
          assertThat(reply.headers().get("Retry-After")).containsExactly("2");
          assertThat(reply.headers()).doesNotContainKey("WWW-Authenticate");
          assertThat(reply.body()).contains("\"status\":503").doesNotContain("nginx");
        }
      }
    }
    assertThat(service.sawNothing()).isTrue();
  }

  @Test
  void aServiceThatIsDownIs502() throws IOException {
    try (Nginx alone =
        new Nginx(
            Files.createDirectory(folder.resolve("alone")),
            GATEWAY.uri().getPort(),
            GATEWAY.keyWith(Scope.IDS_READ),
            FreePort.next(),
            "resolve")) {
      assertThat(
              RawHttp.send("127.0.0.1", alone.port(), bytes("GET /charges/" + id, List.of(), ""))
                  .status())
          .isEqualTo(502);
    }
  }

  @Test
  void theServiceGetsTheKeyOfALegacyId() throws IOException {
    RawHttp.Reply reply =
        sendFrom("192.0.2.1", nginx, "POST /orders/7/refunds?x=%20", json("cents", 4));

    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.body()).isEqualTo("served");
    assertThat(header(reply, "Deprecation")).isEqualTo("@1767225600");
    assertThat(header(reply, "Sunset")).isEqualTo("Sun, 06 Jan 2999 07:08:09 GMT");
    EdgeService.Seen seen = service.one();
    assertThat(seen.uri()).isEqualTo("/orders/42/refunds?x=%20");
    assertThat(seen.body()).isEqualTo(json("cents", 4));
    assertThat(seen.header("X-resolved-types")).isEqualTo("order");
  }

  @Test
  void aUriWithoutLegacyIdsHasNoWordOfTheirEnd() throws IOException {
    for (String path : List.of("/orders/ORDER", "/orders/new", "/")) {
      for (Nginx each : List.of(nginx, redirecting)) {
        RawHttp.Reply reply =
            sendFrom("192.0.2.2", each, "GET " + path.replace("ORDER", order), "");

        assertThat(reply.status()).isEqualTo(200);
        assertThat(reply.headers()).doesNotContainKeys("Deprecation", "Sunset", "Link");
        assertThat(service.one().uri()).isEqualTo(path.replace("ORDER", "42"));
        service.forget();
      }
    }
  }

  @Test
  void theClientIsRedirectedToThePublicUri() throws IOException {
    for (String method : List.of("GET ", "POST ")) {
      RawHttp.Reply reply = sendFrom("192.0.2.3", redirecting, method + "/orders/7?x=%20&y=7", "");

      assertThat(reply.status()).isEqualTo(308);
      assertThat(header(reply, "Location")).isEqualTo("/orders/" + order + "?x=%20&y=7");
      assertThat(header(reply, "Link"))
          .isEqualTo("</orders/" + order + "?x=%20&y=7>; rel=\"canonical\"");
      assertThat(header(reply, "Cache-Control")).isEqualTo("public, max-age=60");
      assertThat(header(reply, "Deprecation")).isEqualTo("@1767225600");
      assertThat(header(reply, "Sunset")).isEqualTo("Sun, 06 Jan 2999 07:08:09 GMT");
      assertThat(reply.headers())
          .doesNotContainKeys("Retry-After", "X-Coatcheck-Status", "X-Coatcheck-Cache-Control");
    }
    assertThat(service.sawNothing()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "/orders/8, 404, legacy_id_unknown, not_found",
    "/orders/007, 400, legacy_id_malformed, legacy_id_malformed",
    "/over/7, 410, legacy_ids_gone, legacy_ids_gone",
    "/bills/7, 404, not_found, not_found",
    "/orders/7/bills/7, 404, not_found, not_found",
  })
  void aNumberThatIsNotServedNeverReachesTheService(
      String path, int status, String resolvingCode, String redirectingCode) throws IOException {
    for (Map.Entry<Nginx, String> each :
        Map.of(nginx, resolvingCode, redirecting, redirectingCode).entrySet()) {
      RawHttp.Reply reply = sendFrom("192.0.2.4", each.getKey(), "GET " + path, "");

      assertThat(reply.status()).isEqualTo(status);
      assertThat(header(reply, "Content-Type")).isEqualTo("application/problem+json");
      assertThat(header(reply, "Cache-Control")).isEqualTo("no-store");
      assertThat(reply.headers()).doesNotContainKeys("Retry-After", "Location", "Link");
      assertThat(reply.body()).contains("\"code\":\"" + each.getValue() + "\"");
      assertThat(header(reply, "Sunset"))
          .isEqualTo(status == 410 ? "Wed, 03 Feb 2021 04:05:06 GMT" : null);
    }
    assertThat(service.sawNothing()).isTrue();
  }

  @Test
  void whoGoesThroughTheNumbersIsNotRedirectedForAWhile() throws IOException {
    for (int number = 2_001; number <= 2_000 + ScanGuard.NUMBERS_MAX; number++) {
      assertThat(sendFrom("198.51.100.1", redirecting, "GET /orders/" + number, "").status())
          .isEqualTo(404);
    }

    RawHttp.Reply stopped =
        sendFrom("198.51.100.1", redirecting, "GET /orders/" + (2_001 + ScanGuard.NUMBERS_MAX), "");

    assertThat(stopped.status()).isEqualTo(429);
    assertThat(header(stopped, "Retry-After")).isEqualTo("60");
    assertThat(header(stopped, "RateLimit")).isEqualTo("\"legacy\";r=0;t=60");
    assertThat(header(stopped, "RateLimit-Policy")).isEqualTo("\"legacy\";q=40;w=60");
    assertThat(header(stopped, "Cache-Control")).isEqualTo("no-store");
    assertThat(stopped.body()).contains("abnormal_usage_detected");
    assertThat(sendFrom("198.51.100.2", redirecting, "GET /orders/7", "").status()).isEqualTo(308);
  }

  private static @Nullable String header(RawHttp.Reply reply, String name) {
    List<String> values = reply.headers().get(name);
    return values == null ? null : String.join(" and ", values);
  }

  /** From a client behind a proxy of ours, which can't choose for itself what happens. */
  private static RawHttp.Reply sendFrom(String client, Nginx to, String request, String body)
      throws IOException {
    List<String> headers =
        List.of(
            "X-Forwarded-For: " + client,
            "X-Coatcheck-Legacy: neither",
            "Content-Length: " + body.length());
    return RawHttp.send("127.0.0.1", to.port(), bytes(request, headers, body));
  }

  private static Nginx other(String name, int coatcheckPort, String apiKey) throws IOException {
    return new Nginx(
        Files.createDirectory(folder.resolve(name)),
        coatcheckPort,
        apiKey,
        service.port(),
        "resolve");
  }

  private static RawHttp.Reply send(String request, List<String> headers, String body)
      throws IOException {
    return RawHttp.send("127.0.0.1", nginx.port(), bytes(request, headers, body));
  }

  private static byte[] bytes(String request, List<String> headers, String body) {
    List<String> lines =
        new ArrayList<>(
            List.of(request + " HTTP/1.1", "Host: api.example.com", "Connection: close"));
    lines.addAll(headers);
    return RawHttp.request(lines, body.getBytes(StandardCharsets.UTF_8));
  }

  private static String filled(String row) {
    return Placeholders.fill(
        row, Map.of("REVOKED", revoked, "MERGED", merged, "KEY", key, "ID", id));
  }
}
