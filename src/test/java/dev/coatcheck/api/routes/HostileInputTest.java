package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What breaks the rules gets a 4xx that says which one, never a 5xx. */
class HostileInputTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static TestClient client;
  private static String id;

  @BeforeAll
  static void start() {
    client = GATEWAY.client().hostile();
    TestClient polite = GATEWAY.client();
    polite.put(TestType.of("charge", "ch").redirect("https://shop.example/{id}"));
    polite.put(TestType.of("user", "usr").uuids());
    id = polite.mint("charge").text("/id");
  }

  @Test
  void everyDamagedPublicIdIs400WithItsReasonAndTheUniform404UnderR() throws IOException {
    String body = id.substring(3);
    for (String bad :
        List.of(
            "CH_" + body,
            "ch_" + body.substring(0, 23),
            "ch_" + body + "0",
            "ch_" + body + "%0A",
            "ch_" + body.substring(0, 12) + "%E2%80%8B" + body.substring(12),
            "%D1%81h_" + body,
            "zz_00000000000000000000002C",
            "ch-" + body,
            "x".repeat(65))) {
      RawHttp.Reply api = raw("GET /v1/ids/" + bad, new byte[0]);

      assertThat(api.status()).as(bad).isEqualTo(400);
      assertThat(api.body()).as(bad).contains("public_id_malformed").contains("\"reason\":");
      assertThat(raw("GET /r/" + bad, new byte[0]).status()).as(bad).isEqualTo(404);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "/v1/ids/%00, 400", "/v1/ids/a%2Fb, 400", "/v1/ids/..;/types, 400",
    "/v1/..%2Ftypes, 400", "/v1/ids/%252e%252e, 400", "/v1/ids/%ff%fe, 400",
    "/v1/ids/%c0%af, 400", "/v1/ids/%zz, 400", "/v1/ids/%u0041, 400",
    "/r/%u0041, 400", "/r/%, 400", "/r/%g0, 400",
    "/v1/ids?type=%ff, 400", "/v1/types?%, 400", "/v1/types?%ff, 400",
    "/r/%4, 400", "/v1/exports?type=%g0, 400", "/v1/ids?type=%zz, 400",
    "/v1/urls/resolve?url=%g0, 400", "/legacy/charge/%u0031, 400", "/docs/assets/%u0041, 400",
    "/r/%00, 400", "/r/%2F%2Fevil.example, 400", "/r/%252F, 400",
    "/v1/types/../ids, 400", "//v1/types, 404", "/V1/types, 404",
    "/v1/types/, 404"
  })
  void oddPathsAreRefused(String path, int status) throws IOException {
    RawHttp.Reply reply = raw("GET " + path, new byte[0]);

    assertThat(reply.status()).as(reply.body()).isEqualTo(status);
    assertThat(reply.headers()).containsKey("Request-Id");
    assertThat(reply.body()).contains("\"code\":");
  }

  @ParameterizedTest
  @ValueSource(strings = {"TRACE", "CONNECT", "FOO", "get", "PROPFIND"})
  void otherMethodsAre405(String method) throws IOException {
    assertThat(raw(method + " /v1/ids", new byte[0]).status()).isIn(400, 405);
  }

  @Test
  void aMethodThatAPathHasNotIs405AndNamesThoseItHas() {
    Reply reply = client.send("DELETE", "/v1/types/charge", null);

    assertThat(reply.status()).isEqualTo(405);
    assertThat(reply.header("Allow")).contains("GET").contains("PUT");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "Bearer", "Bearer x", "Basic eDp5", "Bearer ccg_live_x"})
  void aBadKeyIs401OrABadHeader(String value) throws IOException {
    assertThat(raw("GET /v1/types", new byte[0], "Authorization: " + value).status())
        .isEqualTo(value.isBlank() ? 400 : 401);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Authorization: Bearer a\u00e9", "Idempotency-Key:", "Idempotency-Key: \t",
        "Idempotency-Key: \u00fc", "If-Match: *", "If-Match: W/\"1\"",
        "If-Match: \"0\""
      })
  void oddHeadersAre400(String header) throws IOException {
    RawHttp.Reply reply =
        raw(
            "PUT /v1/types/charge",
            "{\"prefix\":\"ch\",\"key\":\"bigint\"}".getBytes(StandardCharsets.UTF_8),
            "Content-Type: application/json",
            header);

    assertThat(reply.status()).isEqualTo(400);
    assertThat(raw("GET /v1/types", new byte[0], "Idempotency-Key: " + "x".repeat(256)).status())
        .isEqualTo(400);
  }

  @Test
  void forgedForwardingNeverShowsInALocation() throws IOException {
    RawHttp.Reply reply =
        raw(
            "GET /r/" + id + "?next=//evil.example",
            new byte[0],
            "X-Forwarded-Host: evil.example",
            "X-Forwarded-Proto: http",
            "Forwarded: host=evil.example");

    assertThat(reply.status()).isEqualTo(302);
    assertThat(reply.headers().get("Location")).containsExactly("https://shop.example/" + id);
  }

  @Test
  void badTypesAre400() {
    String sound = json("prefix", "ok", "key", "bigint");
    for (String name : List.of("A", "1a", "x".repeat(64), "%E2%80%8B")) {
      assertThat(client.put("/v1/types/" + name, sound).status()).as(name).isEqualTo(400);
    }
    for (String prefix : List.of("", "a__b", "x".repeat(33))) {
      assertThat(client.put(TestType.of("odd", prefix)).status()).as(prefix).isEqualTo(400);
    }
    for (String redirect :
        List.of(
            "{}",
            "\"https://a.example\"",
            json("template", "https://a.example", "status", 303),
            json("template", "https://a.example", "max_age_seconds", 31536001),
            json("template", "https://a.example", "public", "yes"),
            json("template", "https://a.example", "other", 1))) {
      TestType type = TestType.of("odd", "odd").and("{\"redirect\":" + redirect + "}");
      assertThat(client.put(type).status()).as(redirect).isEqualTo(400);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {}
          []
          ``
          ` `
          {
          {"type":
          {"type":"charge","type":"charge"}
          {"type":"charge","kye":"1"}
          {"type":"charge"} {}
          {"type":"charge"}x
          {"type":NaN}
          {"type":"charge",}
          {"type":"charge" /* no */}
          {"type":"charge","key":1}
          {"type":"charge","key":null}
          {"type":"charge","key":123456789012345678901}
          {"type":"charge","key":""}
          {"type":"charge","key":"-1"}
          {"type":"charge","key":"007"}
          {"type":"charge","key":"9223372036854775808"}
          {"type":"charge","key":"\u0661\u0662"}
          {"type":"charge","key":"00000000-0000-7000-8000-000000000000"}
          {"type":"user","key":"1"}
          {"type":"user","key":"01A1FD3C-753A-7C3E-9A41-6F0D2BE8175C"}
          {"type":"user","key":"01a1fd3c753a7c3e9a416f0d2be8175c"}
          {"type":"charge\\u0000"}
          {"type":"\\ud800"}
          {"type":null}
          {"type":{}}
          """)
  void aBadMintIs400(String body) {
    assertThat(client.post("/v1/ids", body).status()).isEqualTo(400);
  }

  @Test
  void deepJsonIs400() {
    String deep = "[".repeat(21) + "]".repeat(21);
    assertThat(client.post("/v1/ids", "{\"type\":%s}".formatted(deep)).text("/code"))
        .isEqualTo("json_malformed");
  }

  /** Each of them would take a hundred times its bytes in memory. */
  @Test
  void aBatchOfNothingButBracketsIs400() {
    String brackets = "[],".repeat(300_000);

    assertProblem(
        client.post("/v1/ids/batch", "{\"items\":[" + brackets + "[]]}"), "400 json_malformed");
  }

  @Test
  void otherEncodingsAndByteOrderMarksAre400() throws IOException {
    String json = json("type", "charge");
    for (byte[] body :
        List.of(
            json.getBytes(StandardCharsets.UTF_16),
            json.getBytes(StandardCharsets.UTF_16LE),
            json.getBytes(StandardCharsets.UTF_16BE),
            ("\uFEFF" + json).getBytes(StandardCharsets.UTF_8),
            "{\"type\":\"ch\u00e4rge\"}".getBytes(StandardCharsets.ISO_8859_1),
            new byte[] {'{', '"', (byte) 0xED, (byte) 0xA0, (byte) 0x80, '"', ':', '1', '}'})) {
      assertThat(raw("POST /v1/ids", body, "Content-Type: application/json").status())
          .isEqualTo(400);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "text/plain; 415", "application/x-www-form-urlencoded; 415",
        "application/json-patch+json; 415", "application/problem+json; 415",
        "'application/json; charset=utf-16'; 415", "'application/json; charset=utf-8'; 201",
        "APPLICATION/JSON; 201"
      })
  void onlyPlainJsonIsTaken(String contentType, int status) throws IOException {
    RawHttp.Reply reply =
        raw(
            "POST /v1/ids",
            "{\"type\":\"charge\"}".getBytes(StandardCharsets.UTF_8),
            "Content-Type: " + contentType);
    assertThat(reply.status()).isEqualTo(status);
  }

  @Test
  void compressedOrUnlabelledBodiesAre415() throws IOException {
    byte[] body = json("type", "charge").getBytes(StandardCharsets.UTF_8);

    assertThat(
            raw("POST /v1/ids", body, "Content-Type: application/json", "Content-Encoding: gzip")
                .status())
        .isEqualTo(415);
    assertThat(raw("POST /v1/ids", body).status()).isEqualTo(415);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Content-Type: application/json | Content-Type: text/plain",
        "Content-Encoding: identity | Content-Encoding: gzip",
        "Transfer-Encoding: gzip, chunked | Content-Type: application/json",
        "Transfer-Encoding: gzip | Transfer-Encoding: chunked",
        "Transfer-Encoding: chunked | Transfer-Encoding: chunked"
      })
  void headersThatLeaveOpenWhatABodyIsAre400(String first, String second) throws IOException {
    byte[] body = json("type", "charge").getBytes(StandardCharsets.UTF_8);
    boolean isChunked = first.startsWith("Transfer-Encoding");
    List<String> lines =
        List.of(
            "POST /v1/ids HTTP/1.1",
            "Host: gateway",
            "Connection: close",
            first,
            second,
            isChunked ? "Accept: */*" : "Content-Length: " + body.length);

    RawHttp.Reply reply =
        RawHttp.send(
            "127.0.0.1",
            GATEWAY.uri().getPort(),
            RawHttp.request(lines, isChunked ? RawHttp.chunked(body, 8_000) : body));

    assertThat(reply.status()).isEqualTo(400);
  }

  /** The sender waits for an answer before it sends more, or never sends more. */
  @Test
  void aBodyThatIsAnnouncedAsTooLargeIs413BeforeItComes() throws IOException {
    RawHttp.Reply reply;
    try (Socket socket = new Socket(GATEWAY.uri().getHost(), GATEWAY.uri().getPort())) {
      socket
          .getOutputStream()
          .write(
              ("POST /v1/ids HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer "
                      + GATEWAY.key()
                      + "\r\nContent-Type: application/json\r\nContent-Length: 5000000\r\n\r\n")
                  .getBytes(StandardCharsets.US_ASCII));
      reply = RawHttp.read(socket.getInputStream(), false);
    }

    assertThat(reply.status()).isEqualTo(413);
    // An answer that had waited for the body in vain would end the connection.
    assertThat(reply.headers()).doesNotContainKey("Connection");
  }

  @ParameterizedTest
  @CsvSource({"/v1/ids, 65537, true", "/v1/ids/batch, 1048577, false"})
  void aLargeBodyIs413AlsoWithoutALength(String path, int bytes, boolean chunked)
      throws IOException {
    byte[] body = new byte[bytes];
    Arrays.fill(body, (byte) ' ');
    assertThat(
            sound(GATEWAY.raw("POST " + path, body, chunked, "Content-Type: application/json"))
                .status())
        .isEqualTo(413);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"items":[]}
          {"type":"charge","count":0}
          {"type":"charge","count":-1}
          {"type":"charge","count":1001}
          {"type":"charge","count":1.0}
          {"type":"charge","count":"1"}
          {"type":"charge","count":99999999999}
          {"type":"charge","count":1,"items":[{"type":"charge"}]}
          {"items":[1]}
          {"items":{}}
          {"items":[{"type":"charge"}],"atomic":1}
          {"items":[{"type":"charge"}],"more":1}
          """)
  void aBadBatchIs400(String body) {
    assertThat(client.post("/v1/ids/batch", body).status()).isEqualTo(400);
  }

  @Test
  void moreThanAThousandItemsAre413() {
    String ids = ("\"" + id + "\",").repeat(1_001);

    Reply reply =
        client.post("/v1/ids/resolve", "{\"ids\":[" + ids.substring(0, ids.length() - 1) + "]}");

    assertThat(reply.status()).isEqualTo(413);
    assertThat(reply.text("/param")).isEqualTo("ids");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "limit=0",
        "limit=101",
        "limit=-1",
        "limit=x",
        "limit=",
        "limit=1&limit=2",
        "limit=+5",
        "limit=1e1",
        "starting_after=",
        "starting_after=ch_x",
        "page=2",
        "type=charge&type=user"
      })
  void aBadListIs400(String query) {
    String separator = query.startsWith("type=") ? "" : "type=charge&";
    assertThat(client.get("/v1/ids?" + separator + query).status()).isEqualTo(400);
  }

  @Test
  void randomBytesNeverGetA5xx() throws IOException {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    String alphabet = "{}[]\",:\\u0/-._~%aZ19 \u0000\u00e9\ud83d\ude00\r\n\t'";
    for (int i = 0; i < 200; i++) {
      StringBuilder noise = new StringBuilder("{\"type\":\"charge\",\"key\":");
      noise.setLength(random.nextInt(noise.length() + 1));
      for (int n = random.nextInt(40); n > 0; n--) {
        noise.append(alphabet.charAt(random.nextInt(alphabet.length())));
      }
      byte[] body = noise.toString().getBytes(StandardCharsets.UTF_8);
      String path = List.of("/v1/ids", "/v1/ids/batch", "/v1/ids/resolve").get(random.nextInt(3));

      assertThat(raw("POST " + path, body, "Content-Type: application/json").status())
          .as("seed %d, round %d", seed, i)
          .isBetween(200, 499);
    }
  }

  private static RawHttp.Reply raw(String requestLine, byte[] body, String... headers)
      throws IOException {
    return sound(GATEWAY.raw(requestLine, body, false, headers));
  }

  private static RawHttp.Reply sound(RawHttp.Reply reply) {
    assertThat(reply.status()).as(reply.body()).isLessThan(500);
    assertThat(Map.copyOf(reply.headers()))
        .containsKey("Request-Id")
        .containsEntry("X-Content-Type-Options", List.of("nosniff"));
    return reply;
  }
}
