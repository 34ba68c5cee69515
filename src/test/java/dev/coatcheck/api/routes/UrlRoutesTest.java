package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * URLs there and back, and as nginx and Envoy ask about them. In the rows CH and USR stand for
 * public IDs, 42 and UUID for their keys.
 */
class UrlRoutesTest {
  private static final String UNKNOWN = "ch_00000000000000000000002B";
  private static final String TYPO = "ch_00000000000000000000002C";
  private static final String UUID = "01a1fd3c-753a-7c3e-9a41-6f0d2be8175c";
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static TestClient client;
  private static String charge;
  private static String user;

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
    client.put(TestType.of("charge", "ch"));
    client.put(TestType.of("user", "usr").uuids());
    charge = client.mint("charge", "key", "42").text("/id");
    user = client.mint("user", "key", UUID).text("/id");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          /charges/CH                                | /charges/42
          /CH                                        | /42
          /charges/CH?expand=customer&limit=3        | /charges/42?expand=customer&limit=3
          /charges?ids=CH,CH,USR                     | /charges?ids=42,42,UUID
          /charges?ids=CH%2CUSR%2cCH                 | /charges?ids=42%2CUUID%2c42
          /charges?ids=CH,,x,                        | /charges?ids=42,,x,
          /charges/CH.json                           | /charges/42.json
          /charges/CH:capture                        | /charges/42:capture
          /charges/CH%3Acapture                      | /charges/42%3Acapture
          /charges/CH;v=1/x                          | /charges/42;v=1/x
          /charges?a=%63%68_TAIL&b=%20               | /charges?a=42&b=%20
          https://api.example.com/v1/charges/CH      | https://api.example.com/v1/charges/42
          https://[2001:db8::1]:8443/CH              | https://[2001:db8::1]:8443/42
          https://api.example.com                    | https://api.example.com
          https://api.example.com?id=CH              | https://api.example.com?id=42
          /                                          | /
          /charges?CH                                | /charges?CH
          /charges?next=/charges/CH                  | /charges?next=/charges/CH
          /charges?q=CH+CH                           | /charges?q=CH+CH
          /charges/xCH                               | /charges/xCH
          /charges/CH,CH                             | /charges/CH,CH
          /charges/ch_x/zz_00000000000000000000002C  | /charges/ch_x/zz_00000000000000000000002C
          /a//b/CH                                   | /a//b/42
          /m%C3%B6bel/CH/100%25                      | /m%C3%B6bel/42/100%25
          /x?q=%E4%zz%&r=%252F&s=%00&t={}^[]"<>      | /x?q=%E4%zz%&r=%252F&s=%00&t={}^[]"<>
          /x?id==CH&=CH&id=CH&id=&&                  | /x?id==CH&=42&id=42&id=&&
          /x?q=?CH&r=/..//@:CH                       | /x?q=?CH&r=/..//@:CH
          """)
  void idsBecomeKeysAndAllElseStays(String url, String resolved) {
    assertThat(resolve(filled(url)).text("/resolved")).isEqualTo(filled(resolved));
  }

  @Test
  void theAnswerNamesTheTypesInTheOrderOfTheUrl() {
    String url = filled("/users/USR/charges?ids=CH,CH");

    assertThat(resolve(url).body().toString())
        .isEqualTo(
            filled(
                """
                {"object":"resolved_url","url":"/users/USR/charges?ids=CH,CH",\
                "resolved":"/users/UUID/charges?ids=42,42","ids":[\
                {"id":"USR","type":"user","key":"UUID","status":"active"},\
                {"id":"CH","type":"charge","key":"42","status":"active"},\
                {"id":"CH","type":"charge","key":"42","status":"active"}]}\
                """));
    assertThat(resolve("/charges").body().at("/ids").size()).isZero();
  }

  @Test
  void theFirstIdThatCannotBeResolvedDecides() {
    Reply typo = resolve(filled("/users/USR/charges/" + TYPO + "?after=" + UNKNOWN));
    assertThat(typo.status()).isEqualTo(400);
    assertThat(typo.text("/code")).isEqualTo("public_id_malformed");
    assertThat(typo.text("/reason")).isEqualTo("check");
    assertThat(typo.body().at("/position").intValue())
        .isEqualTo(("/users//charges/" + user).length());

    Reply unknown = resolve("/charges/" + UNKNOWN + "/" + TYPO);
    assertProblem(unknown, "404 public_id_unknown url");
  }

  @Test
  void aRevokedIdIs410AndAMergedOneIsItsSurvivor() {
    String gone = client.mint("charge", "key", "51").text("/id");
    String merged = client.mint("charge", "key", "52").text("/id");
    client.post("/v1/ids/" + gone + "/revoke", json("reason", "leaked"));
    client.post("/v1/ids/" + merged + "/merge", json("into", charge));

    Reply revoked = resolve("/charges/" + gone);
    assertThat(revoked.status()).isEqualTo(410);
    assertThat(revoked.text("/code")).isEqualTo("public_id_revoked");
    assertThat(revoked.text("/ended_reason")).isEqualTo("leaked");
    assertThat(resolve("/" + UNKNOWN + "/" + gone).status()).isEqualTo(404);

    Reply survivor = resolve("/charges/" + merged + "/x");
    assertThat(survivor.text("/resolved")).isEqualTo("/charges/42/x");
    assertThat(survivor.text("/ids/0/id")).isEqualTo(merged);
    assertThat(survivor.text("/ids/0/status")).isEqualTo("merged");
    assertThat(survivor.text("/ids/0/merged_into")).isEqualTo(charge);
  }

  @Test
  void eachUrlOfABatchIsAnsweredInItsPlace() {
    Reply reply =
        client.post(
            "/v1/urls/resolve",
            filled(json("urls", List.of("/CH", "/" + TYPO, "/" + UNKNOWN, "//x", "/x", ""))));

    assertThat(reply.body().at("/data").findValuesAsString("status"))
        .containsExactly("200", "active", "400", "404", "400", "200", "400");
    assertThat(reply.text("/data/0/resolved_url/resolved")).isEqualTo("/42");
    assertThat(reply.text("/data/1/error/param")).isEqualTo("urls[1]");
    assertThat(reply.body().at("/data/1/error/position").intValue()).isEqualTo(1);
    assertThat(reply.text("/data/2/error/code")).isEqualTo("public_id_unknown");
    assertThat(reply.text("/data/3/error/code")).isEqualTo("url_invalid");
    assertThat(reply.text("/data/4/resolved_url/resolved")).isEqualTo("/x");
  }

  @Test
  void theIdsOfABatchAreAskedForTogetherAndOnce() {
    List<String> urls = Collections.nCopies(1_000, filled("/USR/CH?x=" + UNKNOWN));
    long before = asked();

    assertThat(client.post("/v1/urls/resolve", json("urls", urls)).status()).isEqualTo(200);

    assertThat(asked() - before).isEqualTo(3);
    String more = json("urls", Collections.nCopies(1_001, "/"));
    assertThat(client.hostile().post("/v1/urls/resolve", more).status()).isEqualTo(413);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", "x", "charges/CH",
        "?id=CH", "//evil.example/CH", "https:////evil.example/CH",
        "https://a.example//CH", "https:/a.example/CH", "https:CH",
        "https://", "https:///CH", "https://u:p@a.example/CH",
        "https://a.example:x/CH", "https://a.example:123456/CH", "https://a%2eexample/CH",
        "https://[::1/CH", "https://[::g]/CH", "ftp://a.example/CH",
        "javascript:CH", "/CH#top", "/CH\\x",
        "\\\\evil.example/CH", "/\\evil.example/CH", "/a b",
        "/a\tb", "/a\r\nX-Resolved-URI: /b", "/a\u007f",
        "/m\u00f6bel", "/x?q=\u202e", "/./CH",
        "/../CH", "/a/..", "/a/.",
        "/a/%2e%2E/CH", "/a/.%2e?x", "/a/..;x=1/CH",
        "/a/..%3b/CH", "/a%2fCH", "/a%5CCH",
        "/a%00", "/a%0d%0a", "/a%7F",
        "/%252e%252e/CH", "/ch_%2561", "/a%",
        "/a%2", "/a%zz/CH", "/a%c0%ae",
        "/a%ff", "/a%e4"
      })
  void aUrlThatCanBeReadInTwoWaysIs400(String url) {
    Reply reply = resolveHostile(filled(url));

    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.text("/code")).isEqualTo("url_invalid");
    assertThat(reply.body().toString()).doesNotContain("evil", charge);
  }

  @Test
  void aUrlIsBounded() {
    assertThat(resolve("/" + "x".repeat(4_095)).status()).isEqualTo(200);
    assertThat(resolveHostile("/" + "x".repeat(4_096)).text("/code")).isEqualTo("url_invalid");

    assertThat(resolve(("/" + charge).repeat(50)).status()).isEqualTo(200);
    assertThat(resolveHostile(("/" + charge).repeat(51)).text("/code")).isEqualTo("url_invalid");
    Reply cut = resolveHostile("/" + "x".repeat(9_000));
    assertThat(cut.status()).isEqualTo(414);
    // The connection ends there, which a client that would use it again has to know.
    assertThat(cut.header("connection")).isEqualTo("close");
  }

  @Test
  void aMissingDoubleOrUnencodedParameterIs400() {
    TestClient hostile = client.hostile();

    assertThat(hostile.get("/v1/urls/resolve").text("/param")).isEqualTo("url");
    assertThat(hostile.get("/v1/urls/resolve?url=/a&url=/b").text("/code"))
        .isEqualTo("parameter_invalid");
    assertThat(hostile.get("/v1/urls/resolve?url=/a?x=1&limit=3").text("/code"))
        .isEqualTo("parameter_unknown");
  }

  @ParameterizedTest
  @CsvSource({
    "/charges/42, /charges/{charge}, /charges/CH",
    "/users/UUID/charges/42?x=42#, /users/{user}/charges/{charge}, /users/USR/charges/CH?x=42#",
    "https://API.example.com:8443/42?x=%2F, /{charge}, https://API.example.com:8443/CH?x=%2F",
    "/charges/42.json, /charges/{charge}, /charges/CH.json",
    "/charges/42/, /charges/{charge}/, /charges/CH/",
    "/42/42, /{charge}/42, /CH/42",
  })
  void keysBecomeIdsWhereTheTemplateSays(String url, String template, String published) {
    Reply reply = publish(client, filled(url).replace("#", ""), template);

    assertThat(reply.text("/published")).isEqualTo(filled(published).replace("#", ""));
    assertThat(resolve(reply.text("/published")).text("/resolved"))
        .isEqualTo(filled(url).replace("#", ""));
  }

  @ParameterizedTest
  @CsvSource({
    "/charges/43, /charges/{charge}, 404, key_unknown, url",
    "/charges/42, /charges/{nothing}, 404, type_unknown, template",
    "/charges/042, /charges/{charge}, 400, key_malformed, url",
    "/charges/42/x, /charges/{charge}, 400, url_invalid, url",
    "/../42, /../{charge}, 400, url_invalid, url",
    "/charges/42, /charges/42, 400, field_invalid, template",
    "/charges/42, charges/{charge}, 400, field_invalid, template",
    "/charges/42, /charges/{Charge}, 400, field_invalid, template",
    "/charges/42, /charges/x{charge}, 400, field_invalid, template",
    "/charges/42, /charges/{charge}?x, 400, field_invalid, template",
  })
  void whatCannotBePublishedSaysWhy(
      String url, String template, int status, String code, String param) {
    Reply reply = publish(client.hostile(), filled(url), template);

    assertProblem(reply, status + " " + code + " " + param);
  }

  @Test
  void nginxIsAnsweredInHeaders() {
    Reply resolved = authRequest(client, filled("/users/USR?ids=CH,CH"));
    assertThat(resolved.status()).isEqualTo(200);
    assertThat(resolved.header("X-Resolved-URI")).isEqualTo(filled("/users/UUID?ids=42,42"));
    assertThat(resolved.header("X-Resolved-Types")).isEqualTo("user,charge,charge");
    assertThat(resolved.header("Cache-Control")).isEqualTo("no-store");

    Reply none = authRequest(client, "/");
    assertThat(none.header("X-Resolved-URI")).isEqualTo("/");
    assertThat(none.header("X-Resolved-Types")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "/charges/" + UNKNOWN + ", 404, public_id_unknown",
    "/charges/" + TYPO + ", 400, public_id_malformed",
    "/charges/../x, 400, url_invalid",
    "//evil.example/x, 400, url_invalid",
    "https://evil.example/x, 400, url_invalid",
  })
  void nginxIsTold403AndTheRestInHeaders(String uri, int status, String code) {
    Reply refused = authRequest(client.hostile(), uri);

    assertThat(refused.status()).isEqualTo(403);
    assertThat(refused.text("/code")).isEqualTo("url_refused");
    assertThat(refused.header("X-Coatcheck-Status")).isEqualTo(Integer.toString(status));
    assertThat(refused.header("X-Coatcheck-Problem"))
        .startsWith("{")
        .contains("\"code\":\"" + code + "\"", "\"status\":" + status, refused.text("/request_id"))
        .matches("[ -~]+")
        .doesNotContain("evil");
  }

  @Test
  void theLongestAnswerToNginxFits() {
    String name = "x".repeat(63);
    client.put(TestType.of(name, "x").uuids());
    String id = client.mint(name).text("/id");
    String uri = ("/" + id).repeat(50);

    Reply reply = authRequest(client, uri + "/" + "y".repeat(4_095 - uri.length()));

    assertThat(reply.header("X-Resolved-URI")).hasSize(4_096 + 50 * (36 - id.length()));
    assertThat(reply.header("X-Resolved-Types")).hasSize(50 * 64 - 1);
  }

  @Test
  void withoutTheUriNginxIsRefused() {
    Reply reply = client.hostile().get("/v1/urls/auth-request");

    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.text("/param")).isEqualTo("X-Original-URI");
  }

  /** As Envoy asks: the client's method, and its path behind ours. */
  @Test
  void extAuthzIsAnsweredAsTheClientIsToBe() {
    Reply resolved = client.get("/v1/urls/ext-authz/" + charge);

    assertThat(resolved.status()).isEqualTo(200);
    assertThat(resolved.header("x-resolved-uri")).isEqualTo("/42");
    assertThat(resolved.header("x-resolved-types")).isEqualTo("charge");
    assertThat(client.get("/v1/urls/ext-authz/" + UNKNOWN).status()).isEqualTo(404);
    assertThat(client.hostile().get("/v1/urls/ext-authz/" + TYPO).status()).isEqualTo(400);
    String ended = client.mint("charge").text("/id");
    client.post("/v1/ids/" + ended + "/revoke", json("reason", "nobody's business"));
    Reply revoked = client.get("/v1/urls/ext-authz/" + ended);
    assertThat(revoked.status()).isEqualTo(410);
    assertThat(revoked.body().toString()).doesNotContain("business");
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
  void extAuthzTakesAnyMethodAndAnyPath(String method) throws IOException {
    RawHttp.Reply reply =
        GATEWAY.raw(
            method + " /v1/urls/ext-authz/a/" + filled("CH/b?x=CH&y=%20"), new byte[0], false);

    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.answer().header("X-Resolved-URI")).isEqualTo("/a/42/b?x=42&y=%20");
  }

  @ParameterizedTest
  @CsvSource({
    "'', /",
    "?x=1, /?x=1",
    "CH;v=1, /42;v=1",
    "a;v=1/CH, /a;v=1/42",
    "a%25b/CH, /a%25b/42",
  })
  void extAuthzPassesOnWhatAuthRequestDoes(String asked, String resolved) throws IOException {
    RawHttp.Reply reply =
        GATEWAY.raw("GET /v1/urls/ext-authz/" + filled(asked), new byte[0], false);

    assertThat(authRequest(client, "/" + filled(asked)).header("x-resolved-uri"))
        .isEqualTo(resolved);
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.answer().header("X-Resolved-URI")).isEqualTo(resolved);
  }

  private static Reply authRequest(TestClient as, String uri) {
    return as.with("X-Original-URI", uri).get("/v1/urls/auth-request");
  }

  private static Reply publish(TestClient as, String url, String template) {
    return as.post("/v1/urls/publish", json("url", url, "template", template));
  }

  /** How many IDs were looked for, wherever they were found. */
  private static long asked() {
    return client
        .get("/metrics")
        .body()
        .stringValue()
        .lines()
        .filter(line -> line.startsWith("coatcheck_resolves_total"))
        .mapToLong(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  private static Reply resolve(String url) {
    return client.resolveUrl(url);
  }

  private static Reply resolveHostile(String url) {
    return client.hostile().resolveUrl(url);
  }

  private static String filled(String row) {
    return Placeholders.fill(
        row, Map.of("TAIL", charge.substring(3), "CH", charge, "USR", user, "UUID", UUID));
  }
}
