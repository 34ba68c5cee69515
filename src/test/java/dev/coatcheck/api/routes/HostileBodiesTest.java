package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies that break the rules get a 4xx that says which one. */
class HostileBodiesTest {
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

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {}
          []
          null
          true
          1
          "x"
          ``
          ` `
          {
          {"type":
          {]
          {"type":"charge","type":"charge"}
          {"type":"charge","kye":"1"}
          {"type":"charge"} {}
          {"type":"charge"}x
          {"type":NaN}
          {"type":Infinity}
          {'type':'charge'}
          {"type":"charge",}
          {"type":"charge" /* no */}
          {"type":"charge","key":1}
          {"type":"charge","key":1.5}
          {"type":"charge","key":null}
          {"type":"charge","key":true}
          {"type":"charge","key":["1"]}
          {"type":"charge","key":123456789012345678901}
          {"type":"charge","key":""}
          {"type":"charge","key":"-1"}
          {"type":"charge","key":"+1"}
          {"type":"charge","key":"007"}
          {"type":"charge","key":"1e3"}
          {"type":"charge","key":"0x1"}
          {"type":"charge","key":" 1"}
          {"type":"charge","key":"9223372036854775808"}
          {"type":"charge","key":"\u0661\u0662"}
          {"type":"charge","key":"00000000-0000-7000-8000-000000000000"}
          {"type":"user","key":"1"}
          {"type":"user","key":"01A1FD3C-753A-7C3E-9A41-6F0D2BE8175C"}
          {"type":"user","key":"01a1fd3c753a7c3e9a416f0d2be8175c"}
          {"type":"charge\\u0000"}
          {"type":"\\ud800"}
          {"type":null}
          {"type":1}
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
        client.post("/v1/ids/batch", "{\"items\":[" + brackets + "[]]}"),
        400,
        "json_malformed",
        null);
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
        "text/plain; 415",
        "application/x-www-form-urlencoded; 415",
        "application/json-patch+json; 415",
        "application/problem+json; 415",
        "'application/json; charset=utf-16'; 415",
        "'application/json; charset=utf-8'; 201",
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
  @CsvSource({
    "/v1/ids, 65537, false",
    "/v1/ids, 65537, true",
    "/v1/ids/batch, 1048577, false",
    "/v1/ids/batch, 1048577, true"
  })
  void aLargeBodyIs413AlsoWithoutALength(String path, int bytes, boolean chunked)
      throws IOException {
    byte[] body = new byte[bytes];
    java.util.Arrays.fill(body, (byte) ' ');
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
          {"items":[]} | 400
          {"type":"charge","count":0} | 400
          {"type":"charge","count":-1} | 400
          {"type":"charge","count":1001} | 400
          {"type":"charge","count":1.0} | 400
          {"type":"charge","count":"1"} | 400
          {"type":"charge","count":99999999999} | 400
          {"type":"charge","count":1,"items":[{"type":"charge"}]} | 400
          {"items":[1]} | 400
          {"items":{}} | 400
          {"items":[{"type":"charge"}],"atomic":1} | 400
          {"items":[{"type":"charge"}],"more":1} | 400
          """)
  void aBadBatchIs400(String body, int status) {
    assertThat(client.post("/v1/ids/batch", body).status()).isEqualTo(status);
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

  private static RawHttp.Reply raw(String requestLine, byte[] body, String... headers)
      throws IOException {
    return sound(GATEWAY.raw(requestLine, body, false, headers));
  }

  private static RawHttp.Reply sound(RawHttp.Reply reply) {
    assertThat(reply.status()).as(reply.body()).isLessThan(500);
    assertThat(Map.copyOf(reply.headers())).containsKey("Request-Id");
    return reply;
  }
}
