package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Many requests over one connection, to a gateway without a cache: nearly all answers are sent by
 * another thread than the one that read the request.
 */
@Timeout(120)
class KeepAliveTest {
  private static final int IDS = 40;

  @RegisterExtension
  static final GatewayFixture GATEWAY = GatewayFixture.own("COATCHECK_CACHE_ENTRIES", "0");

  private static List<String> ids;
  private static int right;

  @BeforeAll
  static void start() {
    TestClient client = GATEWAY.client();
    client.put(TestType.of("charge", "ch"));
    ids = new ArrayList<>();
    for (int i = 0; i < IDS; i++) {
      ids.add(client.mint("charge").text("/id"));
    }
  }

  @BeforeEach
  void begin() {
    right = 0;
  }

  @AfterEach
  void someWereRight() {
    assertThat(right).isPositive();
  }

  /** A request, and a part of the body with which it is answered. */
  private record Exchange(String request, String answer) {
    /** A machine with more work than cores may be told to come back. */
    void check(RawHttp.Reply reply) {
      if (reply.status() != 503) {
        assertThat(reply.body()).contains(answer);
        right++;
      }
    }
  }

  private static Exchange get(String id) {
    return new Exchange(request("GET", "/v1/ids/" + id, ""), "\"id\":\"" + id + "\"");
  }

  private static String request(String method, String target, String body) {
    List<String> lines =
        new ArrayList<>(
            List.of(
                method + " " + target + " HTTP/1.1",
                "Host: gateway",
                "Authorization: Bearer " + GATEWAY.key()));
    if (!body.isEmpty()) {
      lines.add("Content-Type: application/json");
      lines.add("Content-Length: " + body.length());
    }
    return String.join("\r\n", lines) + "\r\n\r\n" + body;
  }

  /** Each public ID, and between them what has a body, what is refused, and what needs no row. */
  private static List<Exchange> mixed(long seed) {
    List<Exchange> all = new ArrayList<>();
    for (String id : ids) {
      all.add(get(id));
    }
    Exchange mint =
        new Exchange(request("POST", "/v1/ids", "{\"type\":\"charge\"}"), "\"type\":\"charge\"");
    Exchange malformed = new Exchange(request("GET", "/v1/ids/ch_x", ""), "\"code\":");
    Exchange live = new Exchange(request("GET", "/health/live", ""), "\"object\":\"health\"");
    all.addAll(Collections.nCopies(10, mint));
    all.addAll(Collections.nCopies(10, malformed));
    all.addAll(Collections.nCopies(10, live));
    Collections.shuffle(all, new Random(seed));
    return all;
  }

  @Test
  void requestsOneAfterTheOtherAreAnswered() throws IOException {
    try (Socket socket = connected()) {
      InputStream in = new BufferedInputStream(socket.getInputStream());
      for (int round = 0; round < 2; round++) {
        for (Exchange exchange : mixed(round)) {
          send(socket, exchange.request());
          exchange.check(RawHttp.read(in, false));
        }
      }
    }
  }

  @Test
  void requestsSentTogetherAreAnsweredInTheirOrder() throws IOException {
    for (int round = 0; round < 4; round++) {
      List<Exchange> exchanges = mixed(round);
      StringBuilder all = new StringBuilder();
      exchanges.forEach(exchange -> all.append(exchange.request()));
      try (Socket socket = connected()) {
        InputStream in = new BufferedInputStream(socket.getInputStream());
        send(socket, all.toString());
        for (Exchange exchange : exchanges) {
          exchange.check(RawHttp.read(in, false));
        }
      }
    }
  }

  /** The rest of a request comes while the one before is answered, or after that. */
  @Test
  void aRequestThatComesInTwoPartsIsAnswered() throws IOException {
    String second = get(ids.getLast()).request();
    for (int firstPart = 0; firstPart < second.length(); firstPart += 20) {
      for (String id : ids.subList(0, 2)) {
        try (Socket socket = connected()) {
          InputStream in = new BufferedInputStream(socket.getInputStream());
          send(socket, get(id).request() + second.substring(0, firstPart));
          if (id.equals(ids.getFirst())) {
            get(id).check(RawHttp.read(in, false));
            send(socket, second.substring(firstPart));
          } else {
            send(socket, second.substring(firstPart));
            get(id).check(RawHttp.read(in, false));
          }
          get(ids.getLast()).check(RawHttp.read(in, false));
        }
      }
    }
  }

  /** The answer comes before the body, which is not taken for the next request. */
  @ParameterizedTest
  @CsvSource({
    "nobody, application/json, 401",
    "scopeless, application/json, 403",
    ", text/plain, 415"
  })
  void aRequestAfterOneThatIsRefusedBeforeItsBodyIsAnswered(
      @Nullable String credential, String type, int status) throws IOException {
    String body = "{\"type\":\"charge\"}".repeat(1_000);
    String head = head("/v1/ids", key(credential), "Content-Type: " + type, length(body));
    assertConnectionLasts(head, body, status, false);
  }

  /** A proxy or a client that still sends would see a reset in place of the answer. */
  @ParameterizedTest
  @CsvSource({
    "nobody, text/csv, 401",
    "scopeless, text/csv, 403",
    ", text/plain, 415",
    ", text/csv; charset=latin1, 415"
  })
  void aRequestAfterAFileThatIsRefusedBeforeItIsReadIsAnswered(
      @Nullable String credential, String type, int status) throws IOException {
    String body = "type,key\r\n" + "charge,1\r\n".repeat(100_000);
    String head = head("/v1/imports", key(credential), "Content-Type: " + type, length(body));
    assertConnectionLasts(head, body, status, false);
  }

  /** Files are read as they come, so this answer comes in the middle of one. */
  @Test
  void aRequestAfterAFileThatIsRefusedByItsFirstLineIsAnswered() throws IOException {
    String body = "nonsense\r\n" + "charge,1\r\n".repeat(100_000);
    String head = head("/v1/imports", key(null), "Content-Type: text/csv", length(body));
    assertConnectionLasts(head, body, 400, true);
  }

  /** The head is the whole answer, so nothing is cut off. */
  @ParameterizedTest
  @ValueSource(strings = {"/v1/exports?type=charge", "/v1/audit/export"})
  void aRequestAfterTheHeadOfAnExportIsAnswered(String export) throws IOException {
    try (Socket socket = connected()) {
      InputStream in = new BufferedInputStream(socket.getInputStream());
      send(socket, request("HEAD", export, ""));
      assertThat(RawHttp.read(in, true).status()).isEqualTo(200);
      send(socket, get(ids.getFirst()).request());
      get(ids.getFirst()).check(RawHttp.read(in, false));
    }
  }

  private static void assertConnectionLasts(
      String head, String body, int status, boolean isBodyReadFirst) throws IOException {
    try (Socket socket = connected()) {
      InputStream in = new BufferedInputStream(socket.getInputStream());
      for (int round = 0; round < 3; round++) {
        send(socket, isBodyReadFirst ? head + body : head);
        RawHttp.Reply refused = RawHttp.read(in, false);
        send(socket, isBodyReadFirst ? "" : body);

        new Exchange(head, "\"status\":" + status).check(refused);
        assertThat(refused.headers()).doesNotContainKey("Connection");
        send(socket, get(ids.getFirst()).request());
        get(ids.getFirst()).check(RawHttp.read(in, false));
      }
    }
  }

  /** It sends no body after a refusal, so that nothing of it can be waited for. */
  @ParameterizedTest
  @CsvSource({"/v1/ids, application/json", "/v1/imports, text/csv"})
  void aClientThatWaitsForContinueIsToldThatTheConnectionEnds(String path, String type)
      throws IOException {
    try (Socket socket = connected()) {
      send(
          socket,
          head(
              path,
              "nobody",
              "Content-Type: " + type,
              "Content-Length: 9",
              "Expect: 100-continue"));

      String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

      assertThat(answer)
          .startsWith("HTTP/1.1 401 ")
          .contains("Connection: close")
          .doesNotContain(" 100 ");
      right++;
    }
  }

  /** The client's end of the connection is seen, and the gateway's end closed. */
  @Test
  void aConnectionThatTheClientEndsIsEnded() throws IOException {
    try (Socket socket = connected()) {
      InputStream in = new BufferedInputStream(socket.getInputStream());
      send(socket, get(ids.getFirst()).request());
      get(ids.getFirst()).check(RawHttp.read(in, false));
      socket.shutdownOutput();

      assertThat(in.read()).isEqualTo(-1);
    }
  }

  private static String key(@Nullable String credential) {
    return credential == null
        ? GATEWAY.key()
        : credential.equals("nobody") ? credential : GATEWAY.keyWith(new Scope("nothing"));
  }

  private static String length(String body) {
    return "Content-Length: " + body.length();
  }

  private static String head(String path, String key, String... headers) {
    return "POST %s HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer %s\r\n%s\r\n\r\n"
        .formatted(path, key, String.join("\r\n", headers));
  }

  private static void send(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
  }

  private static Socket connected() throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), GATEWAY.uri().getPort());
    socket.setSoTimeout(60_000);
    socket.setTcpNoDelay(true);
    return socket;
  }
}
