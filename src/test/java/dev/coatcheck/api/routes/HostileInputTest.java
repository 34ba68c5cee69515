package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The rows of the hostile-input table that these endpoints have. Never a 5xx. */
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
    char flipped =
        Character.isUpperCase(body.charAt(4))
            ? Character.toLowerCase(body.charAt(4))
            : Character.toUpperCase(body.charAt(4));
    for (String bad :
        List.of(
            "CH_" + body,
            "ch_" + body.substring(0, 23),
            "ch_" + body + "0",
            "ch_" + body + ".",
            "ch_" + body + "%20",
            "ch_" + body + "%0A",
            "ch_" + body.substring(0, 23) + "%EF%BC%A1",
            "ch_" + body.substring(0, 12) + "%E2%80%8B" + body.substring(12),
            "%D1%81h_" + body,
            "ch_7n42DGM5Tflk9n8mt7Fhc800",
            "zz_00000000000000000000002C",
            "ch-" + body,
            "ch" + body,
            "_" + body,
            "x".repeat(65),
            "ch_"
                + body.substring(0, 4)
                + (Character.isLetter(flipped) ? flipped : '!')
                + body.substring(5))) {
      RawHttp.Reply api = raw("GET /v1/ids/" + bad, new byte[0]);
      RawHttp.Reply open = raw("GET /r/" + bad, new byte[0]);

      assertThat(api.status()).as(bad).isEqualTo(400);
      assertThat(api.body()).as(bad).contains("public_id_malformed").contains("\"reason\":");
      assertThat(open.status()).as(bad).isEqualTo(404);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "/v1/ids/%00, 400",
    "/v1/ids/a%2Fb, 400",
    "/v1/ids/..;/types, 400",
    "/v1/..%2Ftypes, 400",
    "/v1/ids/%252e%252e, 400",
    "/v1/ids/%ff%fe, 400",
    "/v1/ids/%c0%af, 400",
    "/v1/ids/%zz, 400",
    "/v1/ids/%u0041, 400",
    "/r/%u0041, 400",
    "/r/%, 400",
    "/r/%g0, 400",
    "/r/%4, 400",
    "/v1/exports?type=%g0, 400",
    "/v1/ids?type=%zz, 400",
    "/v1/urls/resolve?url=%g0, 400",
    "/legacy/charge/%u0031, 400",
    "/docs/assets/%u0041, 400",
    "/r/%00, 400",
    "/r/%2F%2Fevil.example, 400",
    "/r/%252F, 400",
    "/v1/types/../ids, 400",
    "//v1/types, 404",
    "/V1/types, 404",
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
    RawHttp.Reply reply =
        RawHttp.send(
            "127.0.0.1",
            GATEWAY.uri().getPort(),
            RawHttp.request(
                List.of(
                    "GET /v1/types HTTP/1.1",
                    "Host: a",
                    "Connection: close",
                    "Authorization: " + value),
                new byte[0]));

    assertThat(reply.status()).isEqualTo(value.isBlank() ? 400 : 401);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Authorization: Bearer a\u00e9",
        "Idempotency-Key:",
        "Idempotency-Key: \t",
        "Idempotency-Key: \u00fc",
        "If-Match: *",
        "If-Match: W/\"1\"",
        "If-Match: \"0\""
      })
  void oddHeadersAre400(String header) throws IOException {
    RawHttp.Reply reply =
        raw(
            "PUT /v1/types/charge",
            "{\"prefix\":\"ch\",\"key_scheme\":\"snowflake\"}".getBytes(StandardCharsets.UTF_8),
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
    String sound = json("prefix", "ok", "key_scheme", "snowflake");
    for (String name : List.of("A", "1a", "a-b", "a.b", "x".repeat(64), "_a", "%E2%80%8B")) {
      assertThat(client.put("/v1/types/" + name, sound).status()).as(name).isEqualTo(400);
    }
    for (String prefix : List.of("", "A", "a__b", "a_", "_a", "1a", "a-b", "x".repeat(33))) {
      assertThat(client.put(TestType.of("odd", prefix)).status()).as(prefix).isEqualTo(400);
    }
    for (String redirect :
        List.of(
            "1",
            "[]",
            "{}",
            "\"https://a.example\"",
            json("template", "https://a.example", "status", 303),
            json("template", "https://a.example", "status", "302"),
            json("template", "https://a.example", "max_age_seconds", -1),
            json("template", "https://a.example", "max_age_seconds", 31536001),
            json("template", "https://a.example", "public", "yes"),
            json("template", "https://a.example", "other", 1))) {
      assertThat(
              client
                  .put(
                      "/v1/types/odd",
                      "{\"prefix\":\"odd\",\"key_scheme\":\"snowflake\",\"redirect\":"
                          + redirect
                          + "}")
                  .status())
          .as(redirect)
          .isEqualTo(400);
    }
  }

  @Test
  void randomBytesNeverGetA5xx() throws IOException {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    String alphabet = "{}[]\",:\\u0/-._~%aZ19 \u0000\u00e9\ud83d\ude00\r\n\t'";
    for (int i = 0; i < 300; i++) {
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
    assertThat(Map.copyOf(reply.headers())).containsKey("Request-Id");
    return reply;
  }
}
