package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** URLs there and back. In the rows CH and USR stand for public IDs, 42 and UUID for their keys. */
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
          /charges/CH/                               | /charges/42/
          /users/USR/charges/CH/refunds              | /users/UUID/charges/42/refunds
          /charges/CH?expand=customer&limit=3        | /charges/42?expand=customer&limit=3
          /charges?after=CH                          | /charges?after=42
          /charges?ids=CH,CH,USR                     | /charges?ids=42,42,UUID
          /charges?ids=CH%2CUSR%2cCH                 | /charges?ids=42%2CUUID%2c42
          /charges?ids=CH,,x,                        | /charges?ids=42,,x,
          /charges/CH.json                           | /charges/42.json
          /charges/CH:capture                        | /charges/42:capture
          /charges/CH%3Acapture                      | /charges/42%3Acapture
          /charges/CH;v=1/x                          | /charges/42;v=1/x
          /charges/%63h%5FTAIL                       | /charges/42
          /charges?a=%63%68_TAIL&b=%20               | /charges?a=42&b=%20
          https://api.example.com/v1/charges/CH      | https://api.example.com/v1/charges/42
          HTTPS://API.Example.COM/CH                 | HTTPS://API.Example.COM/42
          http://api.example.com:8443/CH             | http://api.example.com:8443/42
          https://[2001:db8::1]:8443/CH              | https://[2001:db8::1]:8443/42
          https://api.example.com                    | https://api.example.com
          https://api.example.com?id=CH              | https://api.example.com?id=42
          https://api.example.com/?id=CH             | https://api.example.com/?id=42
          /                                          | /
          /?                                         | /?
          /charges?CH                                | /charges?CH
          /charges?CH=1                              | /charges?CH=1
          /charges?next=/charges/CH                  | /charges?next=/charges/CH
          /charges?next=%2Fcharges%2FCH              | /charges?next=%2Fcharges%2FCH
          /charges?q=CH+CH                           | /charges?q=CH+CH
          /charges/xCH                               | /charges/xCH
          /charges/CHx                               | /charges/CHx
          /charges/CH-1                              | /charges/CH-1
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
    assertThat(unknown.status()).isEqualTo(404);
    assertThat(unknown.text("/code")).isEqualTo("public_id_unknown");
    assertThat(unknown.text("/param")).isEqualTo("url");
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
  void anIdUnderAnotherTypesPrefixIsUnknownOrATypo() {
    String forged = "usr_" + charge.substring(3);

    assertThat(resolve("/users/" + forged).status()).isIn(400, 404);
  }

  @Test
  void aTypeThatWasJustAddedIsKnown() {
    client.put(TestType.of("late", "late"));
    String id = client.mint("late", "key", "7").text("/id");

    assertThat(resolve("/late/" + id).text("/resolved")).isEqualTo("/late/7");
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
        "",
        "x",
        "charges/CH",
        "?id=CH",
        "//evil.example/CH",
        "https:////evil.example/CH",
        "https://a.example//CH",
        "https:/a.example/CH",
        "https:CH",
        "https://",
        "https:///CH",
        "https://u:p@a.example/CH",
        "https://a.example:x/CH",
        "https://a.example:123456/CH",
        "https://a%2eexample/CH",
        "https://[::1/CH",
        "https://[::g]/CH",
        "ftp://a.example/CH",
        "javascript:CH",
        "/CH#top",
        "/CH\\x",
        "\\\\evil.example/CH",
        "/\\evil.example/CH",
        "/a b",
        "/a\tb",
        "/a\r\nX-Resolved-URI: /b",
        "/a\u007f",
        "/m\u00f6bel",
        "/x?q=\u202e",
        "/./CH",
        "/../CH",
        "/a/..",
        "/a/.",
        "/a/%2e%2E/CH",
        "/a/.%2e?x",
        "/a/..;x=1/CH",
        "/a/..%3b/CH",
        "/a%2fCH",
        "/a%5CCH",
        "/a%00",
        "/a%0d%0a",
        "/a%7F",
        "/%252e%252e/CH",
        "/ch_%2561",
        "/a%",
        "/a%2",
        "/a%zz/CH",
        "/a%c0%ae",
        "/a%ff",
        "/a%e4"
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
    "/charges/42:capture, /charges/{charge}, /charges/CH:capture",
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
    "/charges/CH, /charges/{charge}, 400, key_malformed, url",
    "/charges/42/x, /charges/{charge}, 400, url_invalid, url",
    "/Charges/42, /charges/{charge}, 400, url_invalid, url",
    "//charges/42, //{charge}/{charge}, 400, url_invalid, url",
    "/../42, /../{charge}, 400, url_invalid, url",
    "/charges/42, /charges/42, 400, field_invalid, template",
    "/charges/42, charges/{charge}, 400, field_invalid, template",
    "/charges/42, /charges/{Charge}, 400, field_invalid, template",
    "/charges/42, /charges/{charge, 400, field_invalid, template",
    "/charges/42, /charges/x{charge}, 400, field_invalid, template",
    "/charges/42, /charges/{charge}?x, 400, field_invalid, template",
  })
  void whatCannotBePublishedSaysWhy(
      String url, String template, int status, String code, String param) {
    Reply reply = publish(client.hostile(), filled(url), template);

    assertThat(reply.status()).isEqualTo(status);
    assertThat(reply.text("/code")).isEqualTo(code);
    assertThat(reply.text("/param")).isEqualTo(param);
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
