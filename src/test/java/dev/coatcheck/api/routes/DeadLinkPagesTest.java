package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.redirect.ScanGuard;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Browsers get pages where all other clients get problems: for links without a target, and at /.
 */
class DeadLinkPagesTest {
  private static final String AS_BROWSER =
      "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";

  /** Of a type whose links are private. */
  private static final String SECRET = "a secret of the shop";

  private static final Pattern STYLE = Pattern.compile("(?s)<style>(.*?)</style>");
  private static final AtomicInteger VISITORS = new AtomicInteger();

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static final TestClient CLIENT = GATEWAY.client();

  private static String offer;
  private static String plain;
  private static String event;
  private static String hidden;
  private static String hiddenRevoked;
  private static String live;

  @BeforeAll
  static void start() {
    String texts =
        """
        {"dead_link":{"default_language":"en",
          "title":{"en":"Sold <script>alert(1)</script>","de":"Verkauft","ar":"\u0628\u064a\u0639"},
          "text":{"en":"Ask \\"us\\" & 'them'","de":"Mehr im Laden.","ar":"\u0634\u0643\u0631\u0627"}}}
        """;
    put(linked("plain", "pl"));
    put(linked("offer", "ofr").and(texts));
    put(linked("event", "evt").with("fallback_url", "https://shop.example/events"));
    Map<String, Object> over = Map.of("sunset_at", "2021-02-03T04:05:06Z");
    put(linked("over", "ov").with("legacy", over));
    put(linked("overtext", "ovt").with("legacy", over).and(texts));
    put(
        linked("overmoved", "ovm")
            .with("legacy", over)
            .with("fallback_url", "https://shop.example/events"));
    put(
        TestType.of("hidden", "hid")
            .with("redirect", Map.of("template", "https://shop.example/{id}", "public", false))
            .with("legacy", Map.of())
            .and(texts.replace("Mehr im Laden.", SECRET)));
    put(TestType.of("linkless", "lin").with("legacy", Map.of()).and(texts));
    offer = revoked("offer");
    plain = revoked("plain");
    event = revoked("event");
    hiddenRevoked = revoked("hidden");
    hidden = CLIENT.mint("hidden", "legacy_id", "7").text("/id");
    live = CLIENT.mint("plain", "legacy_id", "7").text("/id");
    revoke(CLIENT.mint("plain", "legacy_id", "9").text("/id"));
    revoke(CLIENT.mint("event", "legacy_id", "9").text("/id"));
  }

  @ParameterizedTest
  @CsvSource({
    "/r/pl_x, 404",
    "/r/PLAIN, 410",
    "/legacy/plain/8, 404",
    "/legacy/plain/9, 410",
    "/legacy/plain/007, 400",
    "/legacy/over/7, 410",
  })
  void aBrowserGetsAPageWithTheStatusAndTheHeadersOfTheProblem(String path, int status) {
    String filled = path.replace("PLAIN", plain);
    Reply problem = api().hostile().get(filled);
    Reply page = browser().hostile().get(filled);

    assertThat(List.of(problem.status(), page.status())).containsOnly(status);
    assertThat(problem.header("content-type")).isEqualTo("application/problem+json");
    assertThat(page.header("content-type")).isEqualTo("text/html;charset=utf-8");
    assertThat(html(page)).contains("<h1 dir=\"auto\">").doesNotContain("Coatcheck", "coatcheck");
    assertThat(withoutForm(page)).isEqualTo(withoutForm(problem));
    assertThat(page.header("cache-control")).isEqualTo("no-store");
    Reply head = browser().hostile().head(filled);
    assertThat(head.status()).isEqualTo(status);
    assertThat(head.header("content-type")).isEqualTo("text/html;charset=utf-8");
  }

  private static Map<String, List<String>> withoutForm(Reply reply) {
    Map<String, List<String>> headers = new TreeMap<>(reply.headers());
    headers
        .keySet()
        .removeAll(
            List.of(
                "date",
                "request-id",
                "content-length",
                "content-type",
                "content-security-policy",
                "x-robots-tag"));
    return headers;
  }

  @Test
  void thePageOf404IsTheSameBytesForUnknownPrivateAndMalformedLinks() throws IOException {
    String unknown = new PublicId(new Prefix("pl"), new Token(7, 7)).toString();
    List<String> paths =
        List.of(
            "/r/" + unknown,
            "/r/" + TestClient.UNKNOWN_ID,
            "/r/" + unknown.substring(1),
            "/r/%D1%81h_x",
            "/r/" + "x".repeat(65),
            "/r/" + hidden,
            "/r/" + hiddenRevoked,
            "/r/" + revoked("linkless"),
            "/legacy/plain/8",
            "/legacy/hidden/7",
            "/legacy/linkless/7",
            "/legacy/nothing/7",
            "/legacy/No-Type/7");

    List<String> answers = new ArrayList<>();
    for (String path : paths) {
      RawHttp.Reply reply = raw("GET " + path, "Accept: " + AS_BROWSER, "Accept-Language: de");
      assertThat(reply.statusLine()).as(path).contains(" 404 ");
      assertThat(reply.body()).doesNotContain(SECRET, "Verkauft");
      reply.headers().keySet().removeAll(List.of("Date", "Request-Id"));
      answers.add(reply.headers() + "\n" + reply.body());
    }

    assertThat(answers).allMatch(answers.getFirst()::equals);
    RawHttp.Reply malformed = raw("GET /legacy/plain/007", "Accept: " + AS_BROWSER);
    assertThat(answers.getFirst()).endsWith(malformed.body());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          de-CH, fr;q=0.5 | de
          fr              | en
          en;q=0.1, ar    | ar
          ''              | en
          """)
  void theTextOfAnEndedLinkIsInTheLanguageThatIsAskedFor(String asked, String language) {
    Reply page = browser().with("Accept-Language", asked).get("/r/" + offer);

    assertThat(page.status()).isEqualTo(410);
    assertThat(page.header("content-language")).isEqualTo(language);
    assertThat(page.header("vary")).isEqualTo("Accept, Accept-Language");
    assertThat(html(page)).contains("<html lang=\"" + language + "\">");
    Map<String, String> title =
        Map.of("en", "Sold &lt;", "de", "Verkauft<", "ar", "\u0628\u064a\u0639<");
    assertThat(html(page)).contains("<h1 dir=\"auto\">" + title.get(language));
  }

  @Test
  void whatATypeSaysIsTextAndNeverMarkup() {
    String page = html(browser().get("/r/" + offer));

    assertThat(page)
        .contains("<title>Sold &lt;script&gt;alert(1)&lt;/script&gt;</title>")
        .contains("<p dir=\"auto\">Ask &quot;us&quot; &amp; &#39;them&#39;</p>")
        .doesNotContain("<script");
  }

  @Test
  void aDirectionThatIsHiddenInATextIsRefused() {
    for (String c : List.of("\u202e", "\u2066", "\n")) {
      TestType hostile =
          linked("spoof", "spf")
              .with("dead_link", Map.of("title", Map.of("en", "a" + c), "text", Map.of("en", "b")));
      assertProblem(CLIENT.put(hostile), "400 field_invalid dead_link.title.en");
    }
    assertProblem(
        CLIENT.put(linked("spoof", "spf").with("fallback_url", "https://a.example/r/x")),
        "422 redirect_template_refused fallback_url");
    assertThat(CLIENT.get("/v1/types/spoof").status()).isEqualTo(404);
  }

  @Test
  void aTextIsShownAsItWasPutAndMayBeTakenBack() {
    String texts =
        """
        {"dead_link":{"title":{"en":"Gone"},"text":{"en":"For good."}}}
        """;
    Reply put = CLIENT.put(linked("brief", "bri").and(texts));

    assertThat(put.body().get("dead_link").toString())
        .isEqualTo(
            """
            {"default_language":"en","title":{"en":"Gone"},"text":{"en":"For good."}}\
            """);
    assertThat(CLIENT.get("/v1/types/brief").body()).isEqualTo(put.body());
    assertThat(CLIENT.put(linked("brief", "bri").and(texts)).header("etag")).isEqualTo("\"1\"");
    assertThat(CLIENT.put(linked("brief", "bri")).body().get("dead_link").isNull()).isTrue();
  }

  @Test
  void afterTheSunsetABrowserGetsThePageOf410() {
    Reply page = browser().get("/legacy/over/7");
    assertThat(page.status()).isEqualTo(410);
    assertThat(page.header("sunset")).isEqualTo("Wed, 03 Feb 2021 04:05:06 GMT");
    assertThat(html(page)).isEqualTo(html(browser().get("/r/" + plain)));

    Reply own = browser().with("Accept-Language", "de").get("/legacy/overtext/7");
    assertThat(own.status()).isEqualTo(410);
    assertThat(html(own)).contains("Mehr im Laden.");
    assertProblem(api().get("/legacy/overtext/7"), "410 legacy_ids_gone");
  }

  @Test
  void aBrowserIsSentToTheFallbackAndNobodyElseIs() {
    for (String path : List.of("/r/" + event, "/legacy/event/9", "/legacy/overmoved/7")) {
      for (Reply sent : List.of(browser().get(path), browser().head(path))) {
        assertThat(sent.status()).as(path).isEqualTo(302);
        assertThat(sent.header("location")).isEqualTo("https://shop.example/events");
        assertThat(sent.header("cache-control")).isEqualTo("no-store");
        assertThat(sent.header("vary")).isEqualTo("Accept");
        assertThat(sent.has("sunset")).isEqualTo(path.contains("overmoved"));
      }
      assertThat(api().get(path).status()).isEqualTo(410);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "*/*",
        "application/json",
        "application/json, text/plain, */*",
        "application/problem+json, text/html;q=0.9",
        "text/html, application/json",
        "text/html;q=0",
        "garbage;q=;;,"
      })
  void noApiClientGetsAPage(String accept) {
    TestClient client = accept.isEmpty() ? api() : api().with("Accept", accept);
    for (String path : List.of("/r/pl_x", "/r/" + offer, "/legacy/plain/8", "/")) {
      assertThat(client.hostile().get(path).header("content-type"))
          .as("%s for %s", path, accept)
          .isEqualTo("application/problem+json");
    }
  }

  @Test
  void aScanGetsAPageThatSaysToWait() throws IOException {
    String visitor = "X-Forwarded-For: 203.0.113.77";
    for (int number = 1_001; number <= 1_000 + ScanGuard.NUMBERS_MAX; number++) {
      raw("GET /legacy/plain/" + number, visitor);
    }
    TestClient scanner = browser().with("X-Forwarded-For", "203.0.113.77");

    Reply page = scanner.get("/legacy/plain/" + (1_001 + ScanGuard.NUMBERS_MAX));

    assertThat(page.status()).isEqualTo(429);
    assertThat(page.header("retry-after")).isEqualTo("60");
    assertThat(page.header("ratelimit")).isEqualTo("\"legacy\";r=0;t=60");
    assertThat(html(page)).contains("Too many requests");
  }

  /**
   * Whatever is answered: a cache must not give one client the form of another. Only paths that
   * can't be read are 400 without the header, which is a problem for everyone.
   */
  @Test
  void everyAnswerOfALinkVariesByAccept() throws IOException {
    int compared = 0;
    for (String accept : List.of("Accept: text/html", "Accept: application/json")) {
      for (String request :
          List.of(
              "GET /r/" + live,
              "HEAD /r/" + live,
              "GET /legacy/plain/7",
              "GET /r/pl_x",
              "GET /r/" + plain,
              "GET /r/" + event,
              "GET /legacy/plain/8",
              "GET /legacy/plain/x",
              "GET /r/",
              "GET /r/a/b",
              "GET /legacy/plain",
              "POST /r/" + live,
              "FOO /r/x",
              "GET /")) {
        RawHttp.Reply reply = raw(request, accept);
        assertThat(String.join(" and ", reply.headers().getOrDefault("Vary", List.of())))
            .as("%s with %s: %s", request, accept, reply.statusLine())
            .isEqualTo(request.equals("GET /") ? "Accept, Accept-Encoding" : "Accept");
        compared++;
      }
    }
    assertThat(compared).isEqualTo(28);
    assertThat(api().get("/r/" + offer).header("vary")).isEqualTo("Accept, Accept-Language");
    assertThat(CLIENT.get("/v1/types").has("vary")).isFalse();
  }

  @Test
  void everyPageKeepsTheStrictestPolicy() throws Exception {
    for (String path : List.of("/", "/r/pl_x", "/r/" + plain, "/r/" + offer)) {
      Reply reply = browser().get(path);
      String page = html(reply);
      Matcher style = STYLE.matcher(page);
      assertThat(style.find()).as(path).isTrue();
      String hash =
          Base64.getEncoder()
              .encodeToString(
                  MessageDigest.getInstance("SHA-256")
                      .digest(style.group(1).getBytes(StandardCharsets.UTF_8)));

      assertThat(style.find()).as("a second style").isFalse();
      assertThat(reply.header("content-security-policy"))
          .startsWith("default-src 'none'; style-src 'sha256-" + hash + "'; ")
          .doesNotContain("script-src", "unsafe", "http");
      assertThat(reply.header("x-robots-tag")).isEqualTo("noindex");
      assertThat(reply.header("x-content-type-options")).isEqualTo("nosniff");
      assertThat(page)
          .doesNotContain("<script", "style=", "http:", "https:", "src=", "url(", "=\"//");
    }
  }

  @Test
  void theRootSaysToABrowserWhatThisIsAndNoMore() throws IOException {
    Reply page = browser().get("/");

    assertThat(page.status()).isEqualTo(200);
    assertThat(page.header("cache-control")).isEqualTo("public, max-age=300");
    String text = STYLE.matcher(html(page)).replaceAll("");
    assertThat(text).contains("<h1>Coatcheck</h1>", "href=\"/docs\"");
    assertThat(text.replaceAll("<[^>]*>", "")).doesNotContainPattern("[0-9]");
    for (Matcher link = Pattern.compile("href=\"([^\"]+)\"").matcher(text); link.find(); ) {
      assertThat(api().get(link.group(1)).status()).as(link.group(1)).isEqualTo(200);
    }
    assertThat(raw("HEAD /", "Accept: text/html").status()).isEqualTo(200);
    assertThat(browser().with("If-None-Match", page.header("etag")).get("/").status())
        .isEqualTo(304);
    assertProblem(api().get("/"), "404 not_found");
    Reply posted = browser().hostile().post("/", "{}");
    assertThat(posted.status()).isEqualTo(405);
    assertThat(posted.header("allow")).isEqualTo("GET, HEAD");
  }

  @Test
  void theIconIsWhereBrowsersLookForIt() {
    assertThat(api().get("/favicon.svg").body().stringValue()).startsWith("<svg ");
    assertThat(api().get("/favicon.ico").header("content-type")).isEqualTo("image/x-icon");
    for (String path : List.of("/favicon.svg", "/favicon.ico", "/")) {
      Reply icon = browser().get(path);
      assertThat(icon.status()).isEqualTo(200);
      assertThat(browser().with("If-None-Match", icon.header("etag")).get(path).status())
          .isEqualTo(304);
      assertProblem(
          browser().hostile().with("Idempotency-Key", "x".repeat(256)).get(path),
          "400 header_invalid Idempotency-Key");
    }
  }

  private static TestType linked(String name, String prefix) {
    return TestType.of(name, prefix).redirect("https://shop.example/{id}").with("legacy", Map.of());
  }

  private static void put(TestType type) {
    TestClient.assertPut(CLIENT.put(type));
  }

  private static String revoked(String type) {
    return revoke(CLIENT.mint(type).text("/id"));
  }

  private static String revoke(String id) {
    assertThat(CLIENT.post("/v1/ids/" + id + "/revoke", "{}").status()).isEqualTo(200);
    return id;
  }

  private static String html(Reply page) {
    return page.body().stringValue();
  }

  /** Another visitor each time, of whom none misses too often. */
  private static TestClient api() {
    return CLIENT.anonymous().with("X-Forwarded-For", visitor());
  }

  private static TestClient browser() {
    return api().with("Accept", AS_BROWSER);
  }

  private static String visitor() {
    int number = VISITORS.incrementAndGet();
    return "198.18.%d.%d".formatted(number / 256, number % 256);
  }

  private static RawHttp.Reply raw(String requestLine, String... headers) throws IOException {
    List<String> lines =
        new ArrayList<>(List.of(requestLine + " HTTP/1.1", "Host: links", "Connection: close"));
    lines.addAll(List.of(headers));
    if (Stream.of(headers).noneMatch(header -> header.startsWith("X-Forwarded-For"))) {
      lines.add("X-Forwarded-For: " + visitor());
    }
    return RawHttp.send("127.0.0.1", GATEWAY.uri().getPort(), RawHttp.request(lines, new byte[0]));
  }
}
