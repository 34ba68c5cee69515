package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests as no HTTP library sends them: no answer to them is a 5xx, but for 505. */
class RequestFuzzTest {
  private static final int ROUNDS = 500;
  private static final int ANSWER_BYTES_MAX = 4_096;
  private static final int TIMEOUT_MILLIS = 20_000;

  private static final String[] METHODS = {
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PRI", "CONNECT", "FOO"
  };
  private static final String[] PATHS = {
    "/v1/ids/ch_00000000000000000000002B/aliases/legacy/", "",
    "/v1/ids/ch_00000000000000000000002B/revoke", "*",
    "/v1/types/charge/legacy-hits", "//",
    "/v1/types/charge/keys/", "/r/",
    "/v1/table-migrations/", "/v1/ids",
    "/v1/urls/auth-request", "/v1/ids/",
    "/v1/urls/resolve?url=", "/v1/types/",
    "/v1/urls/ext-authz/", "/health/live",
    "/v1/legacy/resolve", "/docs/assets/",
    "/v1/legacy/charge/", "/legacy/charge/",
    "http://gateway/r/", "/v1/exports?type="
  };
  private static final String[] PIECES = {
    "%u0041", "%", "%g0", "%4", "%00", "%2F", "%ff", "%c3%a9",
    "%C0%AF", "%ED%A0%80", "%EF%BB%BF", "..", ".", ";", "\\", "//",
    "?", "&", "=", "#", "+", " ", "\t", "\u0001",
    "\u007f", "\u00e9", "\ud83d\ude00", "{", "}", "<", ">", "[",
    "]", "|", "^", "`", "\"", "ch_00000000000000000000002B", "charge", "type=",
    "limit=", "starting_after=", "%zz=1", "9223372036854775808", "-1", "x", "A", "_",
    "%20", "%0d%0a", "%25", "@", ":", ":99999"
  };
  private static final String[] VERSIONS = {
    "HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/3.0",
    "HTTP/1.2", "HTTP/9.9", "HTTP/", "HTTP/1", "http/1.1", "ICY/1.0", "", "\u0001"
  };
  private static final String[] BODIES = {
    "", "", "{}", "5\r\n{\"a\":\r\n0\r\n\r\n", "x".repeat(100)
  };
  private static final String[] HEADERS = {
    "Host: gateway", "Host:",
    "Host: a:b", "Host: [::1",
    "Host: ,", "Content-Length: 5",
    "Content-Length: -1", "Content-Length: 99999999999999999999",
    "Content-Length: x", "Transfer-Encoding: chunked",
    "Transfer-Encoding: gzip", "Transfer-Encoding: identity",
    "Expect: 100-continue", "Expect: tea",
    "Connection: close", "Connection: upgrade",
    "Upgrade: websocket", "Upgrade: h2c",
    "HTTP2-Settings: AAMAAABk", "Cookie: \u0001=;\"",
    "Content-Type: application/json", "Content-Type: ;;",
    "Content-Type: text/\u00e9", "Content-Type: application/json; charset=\"",
    "Content-Encoding: gzip", "Accept: \u0000",
    "Accept: text/html", "Accept: text/html;q=,;=,*/*;q=0.",
    "Accept-Language: -;q=-,*", "Accept-Language: \u00e9-x-",
    "Idempotency-Key: a", "If-Match: \"",
    "If-None-Match: W/", "Range: bytes=-",
    "X-Forwarded-For: ::::", "Forwarded: for=\"",
    "X-Original-URI: /%u0041", "X-Original-URI: %",
    "X-Original-URI: /9223372036854775807", "X-Original-URI: /charge/%30007?<>\"",
    "X-Coatcheck-Legacy: redirect", "X-Coatcheck-Bare-Keys: refuse",
    "X-Forwarded-Uri: \\", " folded",
    "NoColon", ": empty",
    "A B: c", "Date: yesterday",
    "Accept-Language: ;q=", "Accept-Charset: x",
    "Sec-WebSocket-Key: x", "Sec-WebSocket-Version: 13"
  };

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  @BeforeAll
  static void start() {
    GATEWAY
        .client()
        .put(
            TestType.of("charge", "ch")
                .with("legacy", Map.of())
                .with("url_templates", List.of("/{legacy:charge}", "/{*}/{legacy:charge}")));
  }

  @ParameterizedTest
  @CsvSource({
    "GET /r/x, 505", "GET /r/x HTTP/0.9, 505", "GET /r/x HTTP/1.2, 505",
    "GET /r/x HTTP/3.0, 505", "GET /r/x HTTP/9.9, 505", "GET /r/x HTTP/2.0, 505",
    "GET /r/x ICY/1.0, 505", "GET /r/\u0001 HTTP/1.1, 400", "G\u0001T /r/x HTTP/1.1, 400"
  })
  void aRequestLineThatIsNoneIs400OrNamesTheVersion(String line, int status) throws IOException {
    RawHttp.Reply reply =
        RawHttp.send(
            "127.0.0.1",
            GATEWAY.uri().getPort(),
            RawHttp.request(List.of(line, "Host: gateway"), new byte[0]));

    assertThat(reply.status()).as(reply.body()).isEqualTo(status);
    assertThat(reply.headers()).containsKey("Request-Id");
    assertThat(reply.headers().get("Connection")).containsExactly("close");
    assertThat(reply.body())
        .contains(status == 505 ? "\"http_version_unsupported\"" : "\"request_invalid\"");
  }

  @Test
  void noRequestGetsA5xxBut505AndTheNextThousandAnswersAreRight() throws Exception {
    requireNo5xxIn(ROUNDS);
  }

  @Test
  @Tag("faults")
  void norDoesOneOfManyMore() throws Exception {
    requireNo5xxIn(20 * ROUNDS);
  }

  private static void requireNo5xxIn(int rounds) throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < rounds; round++) {
      byte[] request = request(random);

      String answer = exchange(request);

      assertThat(answer)
          .as(
              "seed %d, round %d: %s",
              seed, round, new String(request, StandardCharsets.ISO_8859_1))
          .matches("(?s)|HTTP/1\\.1 ([1-4][0-9]{2}|505) .*");
    }
    new NextAnswers(GATEWAY.uri(), GATEWAY.key()).areRight();
  }

  private static byte[] request(Random random) {
    StringBuilder line = new StringBuilder(one(METHODS, random)).append(' ');
    line.append(one(PATHS, random));
    for (int n = random.nextInt(4); n > 0; n--) {
      line.append(one(PIECES, random));
    }
    String version = one(VERSIONS, random);
    List<String> lines = new ArrayList<>();
    lines.add(version.isEmpty() ? line.toString() : line + " " + version);
    if (random.nextInt(8) > 0) {
      lines.add("Host: gateway");
    }
    if (random.nextInt(4) > 0) {
      lines.add("Authorization: Bearer " + GATEWAY.key());
    }
    for (int n = random.nextInt(4); n > 0; n--) {
      lines.add(one(HEADERS, random));
    }
    byte[] body = one(BODIES, random).getBytes(StandardCharsets.UTF_8);
    byte[] request = RawHttp.request(lines, body);
    if (random.nextInt(10) == 0) { // one byte is another one
      request[random.nextInt(request.length)] = (byte) random.nextInt(256);
    }
    return request;
  }

  /** All that comes back, up to a limit; empty if the connection is just closed. */
  private static String exchange(byte[] request) throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), GATEWAY.uri().getPort()),
          TIMEOUT_MILLIS);
      socket.setSoTimeout(TIMEOUT_MILLIS);
      socket.getOutputStream().write(request);
      // The server, which waits for more of the request, learns that there is none.
      socket.shutdownOutput();
      return new String(
          socket.getInputStream().readNBytes(ANSWER_BYTES_MAX), StandardCharsets.ISO_8859_1);
    } catch (java.net.SocketException reset) {
      return "";
    }
  }

  private static String one(String[] texts, Random random) {
    return texts[random.nextInt(texts.length)];
  }
}
