package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

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

/**
 * URLs with legacy IDs through {@code docs/edge/nginx.conf} in a real nginx. Order 7 has the key
 * 42; ID stands for its public ID.
 */
class EdgeLegacyTest {
  @TempDir private static Path folder;

  @RegisterExtension
  static final GatewayFixture GATEWAY =
      GatewayFixture.own("COATCHECK_TRUSTED_PROXIES", "127.0.0.1");

  private static EdgeService service;
  private static Nginx resolving;
  private static Nginx redirecting;
  private static String id;

  @BeforeAll
  static void start() throws IOException {
    assumeTrue(Nginx.isInstalled(), "nginx with http_auth_request_module is not installed");
    TestClient client = GATEWAY.client();
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
    id = client.mint("order", "key", "42", "legacy_id", "7").text("/id");
    service = new EdgeService();
    resolving = nginx("resolve");
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
    if (resolving != null) {
      resolving.close();
      redirecting.close();
      service.close();
    }
  }

  @BeforeEach
  void forget() {
    service.forget();
  }

  @Test
  void theServiceGetsTheKeyOfALegacyId() throws IOException {
    RawHttp.Reply reply =
        send(resolving, "POST /orders/7/refunds?x=%20", "192.0.2.1", json("cents", 4));

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
    for (String path : List.of("/orders/ID", "/orders/new", "/")) {
      for (Nginx each : List.of(resolving, redirecting)) {
        RawHttp.Reply reply = send(each, "GET " + path.replace("ID", id), "192.0.2.2", "");

        assertThat(reply.status()).isEqualTo(200);
        assertThat(reply.headers()).doesNotContainKeys("Deprecation", "Sunset", "Link");
        assertThat(service.one().uri()).isEqualTo(path.replace("ID", "42"));
        service.forget();
      }
    }
  }

  @Test
  void theClientIsRedirectedToThePublicUri() throws IOException {
    for (String method : List.of("GET ", "POST ")) {
      RawHttp.Reply reply = send(redirecting, method + "/orders/7?x=%20&y=7", "192.0.2.3", "");

      assertThat(reply.status()).isEqualTo(308);
      assertThat(header(reply, "Location")).isEqualTo("/orders/" + id + "?x=%20&y=7");
      assertThat(header(reply, "Link"))
          .isEqualTo("</orders/" + id + "?x=%20&y=7>; rel=\"canonical\"");
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
    "/orders/9223372036854775808, 400, legacy_id_malformed, legacy_id_malformed",
    "/orders/%D9%A7, 400, legacy_id_malformed, legacy_id_malformed",
    "/over/7, 410, legacy_ids_gone, legacy_ids_gone",
    "/bills/7, 404, not_found, not_found",
    "/orders/7/bills/7, 404, not_found, not_found",
  })
  void aNumberThatIsNotServedNeverReachesTheService(
      String path, int status, String resolvingCode, String redirectingCode) throws IOException {
    for (Map.Entry<Nginx, String> each :
        Map.of(resolving, resolvingCode, redirecting, redirectingCode).entrySet()) {
      RawHttp.Reply reply = send(each.getKey(), "GET " + path, "192.0.2.4", "");

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
      assertThat(send(redirecting, "GET /orders/" + number, "198.51.100.1", "").status())
          .isEqualTo(404);
    }

    RawHttp.Reply stopped =
        send(redirecting, "GET /orders/" + (2_001 + ScanGuard.NUMBERS_MAX), "198.51.100.1", "");

    assertThat(stopped.status()).isEqualTo(429);
    assertThat(header(stopped, "Retry-After")).isEqualTo("60");
    assertThat(header(stopped, "RateLimit")).isEqualTo("\"legacy\";r=0;t=60");
    assertThat(header(stopped, "RateLimit-Policy")).isEqualTo("\"legacy\";q=40;w=60");
    assertThat(header(stopped, "Cache-Control")).isEqualTo("no-store");
    assertThat(stopped.body()).contains("abnormal_usage_detected");
    assertThat(send(redirecting, "GET /orders/7", "198.51.100.2", "").status()).isEqualTo(308);
  }

  private static @Nullable String header(RawHttp.Reply reply, String name) {
    List<String> values = reply.headers().get(name);
    return values == null ? null : String.join(" and ", values);
  }

  /** From a client behind a proxy of ours, which can't choose for itself what happens. */
  private static RawHttp.Reply send(Nginx to, String request, String client, String body)
      throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    List<String> lines =
        new ArrayList<>(
            List.of(
                request + " HTTP/1.1",
                "Host: api.example.com",
                "X-Forwarded-For: " + client,
                "X-Coatcheck-Legacy: neither",
                "Content-Length: " + bytes.length,
                "Connection: close"));
    return RawHttp.send("127.0.0.1", to.port(), RawHttp.request(lines, bytes));
  }
}
