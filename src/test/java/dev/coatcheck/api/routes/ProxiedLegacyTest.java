package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.redirect.ScanGuard;
import dev.coatcheck.ids.registry.TestType;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * URLs with legacy IDs as nginx and Envoy ask about them. In each type the number 7 has the key 42,
 * and the path of a type is its name.
 */
class ProxiedLegacyTest {
  private static final Map<String, Object> DATED =
      Map.of(
          "max_id", "1000",
          "deprecated_at", "2026-01-01T00:00:00Z",
          "sunset_at", "2999-01-06T07:08:09Z",
          "max_age_seconds", 3_600);

  /** Each request comes from another address, so that none is taken for a scan. */
  private static final AtomicInteger VISITORS = new AtomicInteger();

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static TestClient client;

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
    put("plain", Map.of(), null);
    put("dated", DATED, Map.of("template", "https://shop.example/{id}"));
    put("over", Map.of("sunset_at", "2021-02-03T04:05:06Z"), null);
    put("none", null, null);
    put("closed", Map.of("public", false), null);
    put("hidden", Map.of(), Map.of("template", "https://shop.example/{id}", "public", false));
  }

  private static void put(
      String type, @Nullable Map<String, Object> legacy, @Nullable Map<String, Object> redirect) {
    client.put(
        TestType.of(type, type)
            .with("legacy", legacy)
            .with("redirect", redirect)
            .with(
                "url_templates",
                List.of(
                    "/" + type + "/{legacy:" + type + "}",
                    "/2/" + type + "/{legacy:" + type + "}")));
    client.mint(type, "key", "42", "legacy_id", "7");
  }

  @ParameterizedTest
  @ValueSource(strings = {"plain", "none", "closed", "hidden"})
  void withoutAWishNumbersAreResolvedWhateverThePolicySaysOfThePublic(String type) {
    for (Reply reply : both(asked(""), "/" + type + "/7?x=1")) {
      assertThat(reply.status()).isEqualTo(200);
      assertThat(reply.header("X-Resolved-URI")).isEqualTo("/" + type + "/42?x=1");
      assertThat(reply.header("X-Resolved-Types")).isEqualTo(type);
      assertThat(reply.headers()).doesNotContainKeys("deprecation", "sunset", "location", "link");
    }
  }

  @Test
  void aResolvedUriSaysHowLongItsNumbersLast() {
    for (Reply reply : both(asked("resolve"), "/dated/7")) {
      assertThat(reply.header("X-Resolved-URI")).isEqualTo("/dated/42");
      assertThat(reply.header("Deprecation")).isEqualTo("@1767225600");
      assertThat(reply.header("Sunset")).isEqualTo("Sun, 06 Jan 2999 07:08:09 GMT");
      assertThat(reply.headers()).doesNotContainKeys("location", "link");
    }
    assertThat(authRequest(asked(""), "/dated").headers()).doesNotContainKeys("deprecation");
  }

  @Test
  void aRedirectLeadsToTheSameUriWithThePublicId() {
    String known = "/dated/" + id("dated") + "/?tab=items&after=7";

    Reply redirect = extAuthz(asked("redirect"), "/dated/7/?tab=items&after=7");
    assertThat(redirect.status()).isEqualTo(308);
    assertThat(redirect.header("Location")).isEqualTo(known);
    assertThat(redirect.header("Link")).isEqualTo("<" + known + ">; rel=\"canonical\"");
    assertThat(redirect.header("Cache-Control")).isEqualTo("public, max-age=3600");
    assertThat(redirect.header("Deprecation")).isEqualTo("@1767225600");
    assertThat(redirect.header("Sunset")).isEqualTo("Sun, 06 Jan 2999 07:08:09 GMT");

    Reply nginx = authRequest(asked("redirect"), "/dated/7/?tab=items&after=7");
    assertProblem(nginx, "403 url_refused X-Original-URI");
    assertThat(nginx.header("X-Coatcheck-Status")).isEqualTo("308");
    assertThat(nginx.header("Cache-Control")).isEqualTo("no-store");
    assertThat(nginx.header("X-Coatcheck-Cache-Control")).isEqualTo("public, max-age=3600");
    for (String header : List.of("Location", "Link", "Deprecation", "Sunset")) {
      assertThat(nginx.header(header)).isEqualTo(redirect.header(header));
    }

    assertThat(authRequest(asked("redirect"), known).header("X-Resolved-URI"))
        .isEqualTo("/dated/42/?tab=items&after=7");
  }

  /** The header of an answer has an end, and a client chooses the query. */
  @Test
  void aQueryWhoseLinkWouldBeTooLongHasNone() {
    String query = "?" + "<".repeat(4_000);

    Reply nginx = authRequest(asked("redirect"), "/plain/7" + query);

    assertThat(nginx.status()).isEqualTo(403);
    assertThat(nginx.header("Location")).isEqualTo("/plain/" + id("plain") + query);
    assertThat(nginx.headers()).doesNotContainKey("link");
  }

  /** A client chooses the query, and with it no other URL. */
  @Test
  void aLinkIsOneUrlWhateverTheQueryHolds() {
    String query = "?x=>;rel=canonical,<https://evil.example/>&y=\"";

    Reply nginx = authRequest(asked("redirect"), "/plain/7" + query);

    assertThat(nginx.header("Location")).isEqualTo("/plain/" + id("plain") + query);
    assertThat(nginx.header("Link"))
        .matches("<[^<>]*>; rel=\"canonical\"")
        .isEqualTo(
            "</plain/"
                + id("plain")
                + query.replace("<", "%3C").replace(">", "%3E")
                + ">; rel=\"canonical\"");
  }

  @Test
  void twoNumbersAreRedirectedTogetherAndLastAsLongAsTheShorterOne() {
    client.put(
        TestType.of("part", "prt")
            .with("legacy", Map.of("sunset_at", "2998-01-01T00:00:00Z", "max_age_seconds", 60))
            .with("url_templates", List.of("/part/{legacy:part}/dated/{legacy:dated}")));
    String part = client.mint("part", "key", "43", "legacy_id", "8").text("/id");
    String uri = "/part/8/dated/7";

    Reply redirect = extAuthz(asked("redirect"), uri);

    assertThat(redirect.header("Location")).isEqualTo("/part/" + part + "/dated/" + id("dated"));
    assertThat(redirect.header("Cache-Control")).isEqualTo("public, max-age=60");
    assertThat(redirect.header("Sunset")).isEqualTo("Mon, 01 Jan 2998 00:00:00 GMT");
    assertThat(redirect.header("Deprecation")).isEqualTo("@1767225600");
    assertThat(authRequest(asked(""), uri).header("X-Resolved-URI")).isEqualTo("/part/43/dated/42");
    assertProblem(extAuthz(asked("redirect"), "/part/9/dated/7"), "404 not_found");
  }

  @Test
  void allThatIsNotRedirectedLooksTheSame() {
    List<String> uris =
        List.of("/plain/8", "/dated/8", "/dated/1001", "/none/7", "/closed/7", "/hidden/7");

    for (String uri : uris) {
      assertProblem(extAuthz(asked("redirect"), uri), "404 not_found");
      Reply nginx = authRequest(asked("redirect"), uri);
      assertThat(nginx.header("X-Coatcheck-Status")).isEqualTo("404");
      assertThat(nginx.header("X-Coatcheck-Problem")).contains("\"code\":\"not_found\"");
      assertThat(nginx.headers()).doesNotContainKeys("location", "link", "deprecation", "sunset");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "/plain/8, 404, legacy_id_unknown",
    "/dated/1001, 404, legacy_id_unknown",
    "/over/7, 410, legacy_ids_gone",
    "/plain/007, 400, legacy_id_malformed",
    "//plain/7, 400, url_invalid",
  })
  void whatCannotBeResolvedIsRefusedAsTheClientIsToSee(String uri, int status, String code) {
    Reply nginx = authRequest(asked("").hostile(), uri);

    assertProblem(nginx, "403 url_refused X-Original-URI");
    assertThat(nginx.header("X-Coatcheck-Status")).isEqualTo(Integer.toString(status));
    assertThat(nginx.header("X-Coatcheck-Problem")).contains("\"code\":\"" + code + "\"");
    if (status != 404) { // 404 looks the same for all, if it is about a redirect
      assertThat(authRequest(asked("redirect").hostile(), uri).header("X-Coatcheck-Problem"))
          .contains("\"code\":\"" + code + "\"");
    }
  }

  @Test
  void afterTheSunsetTheClientIsToldSince() {
    for (String wish : List.of("resolve", "redirect")) {
      for (Reply reply : both(asked(wish), "/over/7")) {
        assertThat(reply.header("Sunset")).isEqualTo("Wed, 03 Feb 2021 04:05:06 GMT");
      }
      assertProblem(extAuthz(asked(wish), "/over/7"), "410 legacy_ids_gone");
    }
    assertThat(client.get("/v1/urls/resolve?url=/over/7").text("/resolved")).isEqualTo("/over/42");
  }

  @Test
  void theNumberOfARevokedIdIsGoneAndAMergedOneIsItsSurvivor() {
    String gone = client.mint("plain", "legacy_id", "70").text("/id");
    String merged = client.mint("plain", "legacy_id", "71").text("/id");
    client.post("/v1/ids/" + gone + "/revoke", json("reason", "a secret"));
    client.post("/v1/ids/" + merged + "/merge", json("into", id("plain")));

    for (String wish : List.of("resolve", "redirect")) {
      Reply revoked = extAuthz(asked(wish), "/plain/70");
      assertProblem(revoked, "410 public_id_revoked");
      assertThat(revoked.body().toString()).doesNotContain("secret");
    }
    assertThat(extAuthz(asked("redirect"), "/plain/71").header("Location"))
        .isEqualTo("/plain/" + id("plain"));
    assertThat(extAuthz(asked(""), "/plain/71").header("X-Resolved-URI")).isEqualTo("/plain/42");
  }

  @Test
  void whoGoesThroughTheNumbersIsNotRedirectedForAWhile() {
    TestClient scanner = client.with("X-Forwarded-For", "198.51.100.21");
    TestClient redirected = scanner.with("X-Coatcheck-Legacy", "redirect");
    for (int number = 2_001; number <= 2_000 + ScanGuard.NUMBERS_MAX; number++) {
      assertThat(extAuthz(redirected, "/plain/" + number).status()).isEqualTo(404);
    }

    Reply stopped = extAuthz(redirected, "/plain/" + (2_001 + ScanGuard.NUMBERS_MAX));
    assertProblem(stopped, "429 abnormal_usage_detected");
    assertThat(stopped.header("Retry-After")).isEqualTo("60");
    Reply nginx = authRequest(redirected, "/plain/7");
    assertThat(nginx.header("X-Coatcheck-Status")).isEqualTo("429");
    assertThat(nginx.header("X-Coatcheck-Problem")).contains("abnormal_usage_detected");
    assertThat(nginx.header("Retry-After")).isIn("59", "60");
    assertThat(nginx.header("RateLimit-Policy")).isEqualTo("\"legacy\";q=40;w=60");
    assertThat(nginx.header("RateLimit")).startsWith("\"legacy\";r=0;t=");
    // It is the same guard as that of links.
    assertThat(
            scanner
                .anonymous()
                .with("X-Forwarded-For", "198.51.100.21")
                .get("/legacy/dated/7")
                .status())
        .isEqualTo(429);
    // What is resolved shows the client no public ID.
    assertThat(extAuthz(scanner, "/plain/7").status()).isEqualTo(200);
    assertThat(extAuthz(redirected.with("X-Forwarded-For", "198.51.100.22"), "/plain/7").status())
        .isEqualTo(308);
  }

  /** Each number leads somewhere, and none lies near those before it. */
  @Test
  void fourScansInTurnsAreStoppedAtTheSameNumberDirectlyAndThroughProxies() {
    List<String> numbers =
        IntStream.range(0, 180).mapToObj(i -> "" + (100 + 200 * (i % 4) + i / 4)).toList();
    List<Map<String, String>> items =
        numbers.stream().map(number -> Map.of("type", "dated", "legacy_id", number)).toList();
    assertThat(client.post("/v1/ids/batch", json("items", items)).status()).isEqualTo(200);
    List<BiFunction<TestClient, String, String>> ways =
        List.of(
            (as, number) -> "" + as.anonymous().get("/legacy/dated/" + number).status(),
            (as, number) -> "" + extAuthz(as, "/dated/" + number).status(),
            (as, number) -> authRequest(as, "/dated/" + number).header("X-Coatcheck-Status"));
    for (BiFunction<TestClient, String, String> way : ways) {
      TestClient scanner =
          client
              .with("X-Forwarded-For", "192.0.2." + (230 + ways.indexOf(way)))
              .with("X-Coatcheck-Legacy", "redirect");

      List<String> statuses = numbers.stream().map(number -> way.apply(scanner, number)).toList();

      assertThat(statuses.subList(0, 120)).doesNotContain("429", "404");
      assertThat(statuses.subList(120, 180)).containsOnly("429");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "/plain/7, 200",
    "/2/plain/7, 200",
    "/plain/new, 200",
    "/42, 404",
    "/bills/42, 404",
    "/bills/42.json, 404",
    "/bills/%34%32/x, 404",
    "/3/plain/7, 404",
    "/bills/01A1FD3C-753A-7C3E-9A41-6F0D2BE8175C/, 404",
    "/bills/01a1fd3c753a7c3e9a416f0d2be8175c, 404",
    "/bills/%2001a1fd3c753a7c3e9a416f0d2be8175c, 404",
    "/bills/01a1-fd3c-753a-7c3e-9a41-6f0d-2be8-175c, 404",
    "/bills/%7B01a1fd3c-753a-7c3e-9a41-6f0d2be8175c%7D, 404",
    "/bills/urn:uuid:01a1fd3c-753a-7c3e-9a41-6f0d2be8175c, 404",
    "/bills/URN:UUID:01a1fd3c-753a-7c3e-9a41-6f0d2be8175c, 404",
    "/bills/1a1fd3c-753a-7c3e-9a41-6f0d2be8175c, 404",
    "/bills/+1a1fd3c-%2B753a-7c3e-9a41-6f0d2be8175c, 404",
    "/bills/%EF%BC%91a1fd3c-753a-7c3e-9a41-6f0d2be8175c, 404",
    "/bills/%E2%80%8301a1fd3c-753a-7c3e-9a41-6f0d2be8175c, 404",
    "/bills/1-2-3-4-5, 404",
    "/bills/.42e2, 404",
    "/bills/1-2-3-4, 200",
    "/bills/1-2-3-4-x, 200",
    "/bills/01a1fd3c753a7c3e9a416f0d2be8175c0, 200",
    "/bills?id=42, 200",
  })
  void aProxyCanRefuseBareKeys(String uri, int status) {
    TestClient proxy = asked("").with("X-Coatcheck-Bare-Keys", "refuse");

    assertThat(extAuthz(proxy, uri).status()).isEqualTo(status);
    assertThat(authRequest(proxy, uri).status()).isEqualTo(status == 404 ? 403 : 200);
    assertThat(extAuthz(asked(""), "/bills/42").header("X-Resolved-URI")).isEqualTo("/bills/42");
  }

  /** Services differ in what they read as a number, so whatever one of them does is refused. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "+42",
        "%2B42",
        "-42",
        "42%20",
        "%2042",
        "42+",
        "%C2%A042%E2%80%8B",
        "%D9%A4%D9%A2",
        "%EF%BC%94%EF%BC%92",
        "-%EF%BC%94%EF%BC%92.json",
        "%E2%88%9242",
        "007",
        "4_2",
        "42e0",
        "0x2A",
        "0x0000000000000000002a",
        "0xfedcba9876543210",
        "%232a",
        "-%23%EF%BC%92a",
        "4%202",
        "4%E2%80%832",
        "0x%202a",
        "0x2aL",
        "0xAp0",
        "42L",
        "42d",
        "42n",
        "0b101010",
        "0o52",
        "99999999999999999999"
      })
  void whatReadsAsANumberIsRefusedAsABareKeyAndAsALegacyId(String text) {
    TestClient proxy = asked("").hostile().with("X-Coatcheck-Bare-Keys", "refuse");

    for (String path : List.of("/bills/" + text, "/bills/" + text + "/x", "/" + text)) {
      assertThat(extAuthz(proxy, path).status()).as(path).isEqualTo(404);
      assertThat(authRequest(proxy, path).header("X-Coatcheck-Status")).as(path).isEqualTo("404");
    }
    for (TestClient as : List.of(proxy, asked("redirect").hostile())) {
      assertProblem(extAuthz(as, "/plain/" + text), "400 legacy_id_malformed url");
      assertThat(authRequest(as, "/plain/" + text).header("X-Coatcheck-Status")).isEqualTo("400");
    }
    assertProblem(
        client
            .hostile()
            .get("/v1/urls/resolve?url=/plain/" + text.replace("%", "%25").replace("+", "%2B")),
        "400 legacy_id_malformed url");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "2024-annual-report",
        "42abc",
        "e3",
        "0x",
        "0x742d35Cc6634C0532925a3b844Bc454e4438f44e",
        "0xfedcba98765432100",
        "-",
        "+",
        "___",
        "deadbeef",
        "4-2",
        "v1",
        "%E2%91%A0",
        "urn:isbn:1"
      })
  void whatOnlyLooksLikeANumberPasses(String text) {
    TestClient proxy = asked("").hostile().with("X-Coatcheck-Bare-Keys", "refuse");

    for (Reply reply : both(proxy, "/bills/" + text)) {
      assertThat(reply.header("X-Resolved-URI")).isEqualTo("/bills/" + text);
    }
    assertThat(extAuthz(proxy, "/plain/" + text).header("X-Resolved-URI"))
        .isEqualTo("/plain/" + text);
  }

  @Test
  void aWishThatIsNoneIs400() {
    for (String header : List.of("X-Coatcheck-Legacy", "X-Coatcheck-Bare-Keys")) {
      for (String value : List.of("", "REDIRECT", "yes", "redirect, redirect")) {
        TestClient proxy = client.hostile().with(header, value);
        for (Reply reply : both(proxy, "/plain/7")) {
          assertProblem(reply, "400 header_invalid " + header);
        }
      }
    }
  }

  private static TestClient asked(String legacy) {
    TestClient visitor =
        client.with("X-Forwarded-For", "203.0.113." + VISITORS.incrementAndGet() % 256);
    return legacy.isEmpty() ? visitor : visitor.with("X-Coatcheck-Legacy", legacy);
  }

  private static String id(String type) {
    return client.get("/v1/legacy/" + type + "/7").text("/id");
  }

  private static List<Reply> both(TestClient as, String uri) {
    return List.of(authRequest(as, uri), extAuthz(as, uri));
  }

  private static Reply authRequest(TestClient as, String uri) {
    return as.with("X-Original-URI", uri).get("/v1/urls/auth-request");
  }

  private static Reply extAuthz(TestClient as, String uri) {
    return as.get("/v1/urls/ext-authz" + uri);
  }
}
