package dev.coatcheck.api.console.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.MachineDelay;
import dev.coatcheck.api.console.ConsoleClient;
import dev.coatcheck.api.console.ConsoleClient.Page;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.RawHttp;
import dev.coatcheck.ids.access.Scope;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who gets into the console, and how long that lasts. */
class SignInPagesTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static final String END = "/console/session/end";

  @Test
  void aKeySignsInUntilTheSignOut() {
    ConsoleClient browser = new ConsoleClient(GATEWAY.uri());

    Page signedIn = browser.signIn(GATEWAY.key());

    assertThat(signedIn.status()).isEqualTo(303);
    assertThat(signedIn.location()).isEqualTo("/console");
    assertThat(signedIn.header("set-cookie").orElseThrow())
        .matches(
            "__Host-coatcheck=[A-Za-z0-9_-]{43}; Path=/; Secure; HttpOnly; SameSite=Strict;"
                + " Max-Age=28800");
    Page page = browser.get("/console");
    assertThat(page.status()).isEqualTo(200);
    assertThat(page.html()).contains("<h1>Find</h1>", GATEWAY.key().substring(9, 21));

    String cookie = browser.cookie();
    Page signedOut = browser.post(END, Map.of("form_token", page.formToken()));

    assertThat(signedOut.status()).isEqualTo(303);
    assertThat(browser.cookie()).isEmpty();
    browser.setCookie(cookie);
    assertThat(browser.get("/console").location()).isEqualTo("/console/sign-in");
    assertThat(
            GATEWAY.count(
                "select count(distinct action) from coatcheck.audit_entry where key_id = '%s' and subjects = array['key_' || key_id] and action in ('console.sign_in', 'console.sign_out')"
                    .formatted(GATEWAY.key().substring(9, 21))))
        .isEqualTo(2);
  }

  @Test
  void aFormThatIsRefusedBeforeItIsReadIsAnsweredByAPage() {
    ConsoleClient browser = new ConsoleClient(GATEWAY.uri());

    Page tooLarge = browser.signIn("x".repeat(RequestBody.FORM_BYTES_MAX));

    assertThat(tooLarge.status()).isEqualTo(413);
    assertThat(tooLarge.header("content-type")).contains("text/html;charset=utf-8");
    assertThat(tooLarge.html()).contains("Nothing was changed.", "may have at most");
  }

  @Test
  void everySignInHasANewTokenAndNoneIsStored() {
    String first = ConsoleClient.signedIn(GATEWAY, GATEWAY.key()).cookie();
    String second = ConsoleClient.signedIn(GATEWAY, GATEWAY.key()).cookie();

    assertThat(first).isNotEqualTo(second);
    assertThat(GATEWAY.count("select count(*) from coatcheck.console_session")).isPositive();
    for (String token : List.of(first, second)) {
      assertThat(
              GATEWAY.count(
                  "select count(*) from coatcheck.console_session as it where it::text like '%%%s%%'"
                      .formatted(token)))
          .isZero();
    }
  }

  @Test
  void whoHasNoSessionIsAskedToSignInAndThenSeesTheWantedPage() {
    ConsoleClient browser = new ConsoleClient(GATEWAY.uri());
    Page asked = browser.get("/console?q=ord_1");

    assertThat(asked.status()).isEqualTo(303);
    assertThat(asked.location()).isEqualTo("/console/sign-in?next=%2Fconsole%3Fq%3Dord_1");
    assertThat(browser.get(asked.location()).html())
        .contains("<h1>Sign in</h1>", "value=\"/console?q=ord_1\"");
    assertThat(
            browser
                .post("/console/session", Map.of("key", GATEWAY.key(), "next", "/console?q=ord_1"))
                .location())
        .isEqualTo("/console?q=ord_1");
  }

  @Test
  void aFormThatIsSentAfterTheSessionLeadsBackToItsPageAndSaysThatNothingWasDone() {
    String form = "/console/keys/new";
    ConsoleClient browser = ConsoleClient.signedIn(GATEWAY, GATEWAY.key());
    String token = browser.get(form).formToken();
    browser.setCookie("");

    Page asked = browser.post(form, Map.of("form_token", token, "name", "late"));

    assertThat(asked.status()).isEqualTo(303);
    assertThat(asked.location()).startsWith("/console/sign-in?next=%2Fconsole%2Fkeys%2Fnew&");
    assertThat(browser.get(asked.location()).html())
        .contains("Your session is over. Nothing was done.", "value=\"" + form + "\"");
    assertThat(browser.get("/console/sign-in?next=" + ConsoleClient.encoded(form)).html())
        .doesNotContain("Your session is over");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "https://evil.example/",
        "//evil.example/console",
        "/console\\evil",
        "/consoles",
        "/v1/ids",
        "/console/../v1",
        "/console\r\nSet-Cookie: a=b",
        "javascript:alert(1)"
      })
  void theSignInLeadsToPagesOfTheConsoleOnly(String next) {
    assertThat(
            new ConsoleClient(GATEWAY.uri())
                .post("/console/session", Map.of("key", GATEWAY.key(), "next", next))
                .location())
        .isEqualTo("/console");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "x", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "' or true --"})
  void aForgedSessionIsNone(String cookie) {
    ConsoleClient browser = new ConsoleClient(GATEWAY.uri());
    browser.setCookie(cookie);

    assertThat(browser.get("/console?q=1").location()).startsWith("/console/sign-in?");
    assertThat(browser.post(END, Map.of("form_token", "x")).location())
        .isEqualTo("/console/sign-in");
  }

  @Test
  void anExpiredSessionIsNone() {
    ConsoleClient browser = ConsoleClient.signedIn(GATEWAY, GATEWAY.key());
    assertThat(browser.get("/console").status()).isEqualTo(200);

    GATEWAY.execute("update coatcheck.console_session set expires_at = now()");

    assertThat(browser.get("/console").location()).isEqualTo("/console/sign-in");
    ConsoleClient.signedIn(GATEWAY, GATEWAY.key());
    assertThat(GATEWAY.count("select count(*) from coatcheck.console_session")).isEqualTo(1);
  }

  @Test
  void aFurtherSignInEndsTheOldestOfAHundredSessions() {
    String key = GATEWAY.keyWith(Scope.IDS_READ);
    ConsoleClient oldest = ConsoleClient.signedIn(GATEWAY, key);
    GATEWAY.execute(
        """
        insert into coatcheck.console_session
        select sha256(n::text::bytea), '%s', now() + interval '1 minute', now() + interval '1 hour'
          from generate_series(1, 99) as n
        """
            .formatted(key.substring(9, 21)));
    assertThat(oldest.get("/console").status()).isEqualTo(200);

    ConsoleClient.signedIn(GATEWAY, key);

    assertThat(oldest.get("/console").status()).isEqualTo(303);
    assertThat(
            GATEWAY.count(
                "select count(*) from coatcheck.console_session where key_id = '%s'"
                    .formatted(key.substring(9, 21))))
        .isEqualTo(100);
  }

  @Test
  void aSessionEndsWithinTwoSecondsOfTheRevocationOfItsKey() {
    String key = GATEWAY.keyWith(Scope.IDS_READ);
    ConsoleClient browser = ConsoleClient.signedIn(GATEWAY, key);
    assertThat(browser.get("/console").status()).isEqualTo(200);

    try (MachineDelay delay = MachineDelay.measure()) {
      GATEWAY.revokeKey(key);
      long from = System.nanoTime();
      Awaitility.await().until(() -> browser.get("/console").status() == 303);
      delay.requireWithin(Duration.ofSeconds(2), Duration.ofNanos(System.nanoTime() - from));
    }
    assertThat(browser.signIn(key).status()).isEqualTo(401);
  }

  @Test
  void aKeyMayNotBeUsedFromOtherAddresses() {
    String key = GATEWAY.keyWith(Scope.IDS_READ);
    GATEWAY.execute(
        "update coatcheck.api_key set ranges = '{192.0.2.0/24}' where key_id = '%s'"
            .formatted(key.substring(9, 21)));
    ConsoleClient inside = new ConsoleClient(GATEWAY.uri()).with("X-Forwarded-For", "192.0.2.7");
    assertThat(inside.signIn(key).status()).isEqualTo(303);
    assertThat(inside.get("/console").status()).isEqualTo(200);

    assertThat(inside.with("X-Forwarded-For", "198.51.100.7").get("/console").status())
        .isEqualTo(303);
    assertThat(inside.signIn(key).status()).isEqualTo(401);
  }

  @Test
  void wrongKeysAreLimitedByAddress() {
    ConsoleClient browser =
        new ConsoleClient(GATEWAY.uri()).with("X-Forwarded-For", "203.0.113.41");
    for (int tried = 0; tried < WrongKeys.WRONG_MAX; tried++) {
      Page refused = browser.signIn("ccg_live_wrong" + tried);
      assertThat(refused.status()).isEqualTo(401);
      assertThat(refused.html())
          .contains("This is no valid API key")
          .doesNotContain("wrong" + tried);
    }
    Page limited = browser.signIn(GATEWAY.key());

    assertThat(limited.status()).isEqualTo(429);
    assertThat(limited.html())
        .as("no way to a page that there isn't")
        .doesNotContain("/console/theme");
    assertThat(limited.header("retry-after")).contains("60");
    assertThat(browser.with("X-Forwarded-For", "203.0.113.42").signIn(GATEWAY.key()).status())
        .isEqualTo(303);
  }

  @ParameterizedTest
  @ValueSource(strings = {"https://evil.example", "null", "", "http://127.0.0.1.evil.example"})
  void aFormOfAnotherSiteIsRefused(String origin) {
    ConsoleClient browser = ConsoleClient.signedIn(GATEWAY, GATEWAY.key());
    String token = browser.get("/console").formToken();
    if (origin.isEmpty()) {
      browser.without("Origin");
    } else {
      browser.with("Origin", origin);
    }

    assertThat(browser.signIn(GATEWAY.key()).status()).isEqualTo(403);
    Page refused = browser.post(END, Map.of("form_token", token));
    assertThat(refused.status()).isEqualTo(403);
    assertThat(refused.html()).contains("from a page of another site");
    assertThat(browser.get("/console").status()).isEqualTo(200);
  }

  @Test
  void aFormOfAnEarlierSessionIsRefused() {
    ConsoleClient browser = ConsoleClient.signedIn(GATEWAY, GATEWAY.key());
    String stale = browser.get("/console").formToken();
    browser.signIn(GATEWAY.key());

    for (Map<String, String> fields :
        List.of(Map.of("form_token", stale), Map.of("form_token", ""), Map.of("x", "y"))) {
      Page refused = browser.post(END, fields);
      assertThat(refused.status()).isEqualTo(403);
      assertThat(refused.html()).contains("from an earlier session");
    }
    assertThat(browser.get("/console").status()).isEqualTo(200);
  }

  @Test
  void overPlainHttpKeysAreTypedOnThisMachineOnly() throws IOException {
    assertThat(signInPage("localhost:8080")).contains("id=\"key\"");
    assertThat(signInPage("[::1]:8080")).contains("id=\"key\"");
    assertThat(signInPage("console.example"))
        .contains("over plain HTTP from another machine")
        .doesNotContain("id=\"key\"");
    // A trusted proxy says that the browser came over TLS.
    assertThat(signInPage("console.example", "X-Forwarded-Proto: https")).contains("id=\"key\"");

    byte[] form = ConsoleClient.form(Map.of("key", GATEWAY.key())).getBytes(StandardCharsets.UTF_8);
    RawHttp.Reply refused =
        send(
            List.of(
                "POST /console/session HTTP/1.1",
                "Host: console.example",
                "Origin: http://console.example",
                "Connection: close",
                "Content-Type: application/x-www-form-urlencoded",
                "Content-Length: " + form.length),
            form);
    assertThat(refused.statusLine()).contains("403");
    assertThat(refused.headers()).doesNotContainKey("set-cookie");
  }

  private static String signInPage(String host, String... headers) throws IOException {
    List<String> lines =
        new ArrayList<>(
            List.of("GET /console/sign-in HTTP/1.1", "Host: " + host, "Connection: close"));
    lines.addAll(List.of(headers));
    return send(lines, new byte[0]).body();
  }

  private static RawHttp.Reply send(List<String> lines, byte[] body) throws IOException {
    return RawHttp.send("127.0.0.1", GATEWAY.uri().getPort(), RawHttp.request(lines, body));
  }

  @Test
  void malformedFormsAreRefused() {
    ConsoleClient browser = new ConsoleClient(GATEWAY.uri());
    assertThat(browser.post("/console/session", Map.of("key", "\0")).status()).isEqualTo(400);
    assertThat(browser.post("/console/session", Map.of("key", "x".repeat(200_000))).status())
        .isEqualTo(413);
  }

  @Test
  void everyAnswerHasTheHeadersOfAPage() {
    ConsoleClient browser = ConsoleClient.signedIn(GATEWAY, GATEWAY.key());
    for (Page page :
        List.of(
            browser.get("/console"),
            browser.get("/console?q=ord_1"),
            browser.get("/console/ids/ord_1/revoke"),
            browser.post(END, Map.of()),
            new ConsoleClient(GATEWAY.uri()).get("/console/sign-in"),
            new ConsoleClient(GATEWAY.uri()).get("/console"))) {
      assertThat(page.header("content-security-policy"))
          .contains(
              "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
                  + " connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri"
                  + " 'none'");
      assertThat(page.header("referrer-policy")).contains("same-origin");
      assertThat(page.header("cache-control")).contains("no-store");
      assertThat(page.header("x-content-type-options")).contains("nosniff");
      assertThat(page.header("cross-origin-opener-policy")).contains("same-origin");
    }
  }

  @Test
  void assetsAreKeptUnderNamesWithTheirHash() {
    ConsoleClient browser = new ConsoleClient(GATEWAY.uri());
    List<String> assets =
        browser.get("/console/sign-in").links().stream()
            .filter(link -> link.startsWith("/console/assets/"))
            .toList();

    assertThat(assets).hasSize(2).allMatch(path -> path.matches(".*-[0-9a-f]{12}\\.(css|svg)"));
    for (String path : assets) {
      Page asset = browser.get(path);
      assertThat(asset.status()).isEqualTo(200);
      assertThat(asset.header("cache-control")).contains("public, max-age=31536000, immutable");
    }
    assertThat(browser.get("/console/assets/console-000000000000.css").status()).isEqualTo(404);
    assertThat(browser.post(assets.getFirst(), Map.of()).status()).isEqualTo(405);
  }
}
