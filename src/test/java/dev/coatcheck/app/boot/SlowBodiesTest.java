package dev.coatcheck.app.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.console.ConsoleClient;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.NextAnswers;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Bodies that come slowly, stop, or never end: nobody else may notice. */
class SlowBodiesTest {
  private static final int MEBIBYTE = 1 << 20;
  private static final int TIMEOUT_MILLIS = 60_000;
  private static final byte[] PART = " ".repeat(64 << 10).getBytes(StandardCharsets.US_ASCII);

  @RegisterExtension
  static final GatewayFixture GATEWAY = GatewayFixture.own("COATCHECK_MANAGEMENT_PORT", "0");

  private final List<Socket> sockets = new ArrayList<>();

  @AfterEach
  void close() throws IOException {
    closeAll(sockets);
  }

  @Test
  @Tag("faults")
  void bodiesWithTheLastByteWithheldHoldBoundedMemoryAndNobodyElseUp() throws Exception {
    TestDatabase database = TestDatabase.fresh();
    try (GatewayChild gateway = GatewayChild.serve(database, "256m", Map.of())) {
      // Each key may hold a quarter of the memory: five want more than there is.
      for (int key = 0; key < 5; key++) {
        String apiKey = GatewayFixture.keyOn(database);
        for (int i = 0; i < 90; i++) {
          open(gateway.uri(), head("/v1/ids/batch", apiKey, "Content-Length: " + MEBIBYTE));
          send(sockets.getLast(), MEBIBYTE - 1);
        }
      }

      new NextAnswers(gateway.uri(), GatewayFixture.keyOn(database)).areRight();
    }
  }

  @Test
  void slowBodiesOfOneKeyLeaveTheOthersTheirAnswers() throws Exception {
    for (int i = 0; i < 600; i++) {
      open(GATEWAY.uri(), head("/v1/ids", GATEWAY.key(), "Content-Length: 100"));
      send(sockets.getLast(), 1);
    }

    new NextAnswers(GATEWAY.uri(), GATEWAY.keyWith(Scope.ALL)).areRight();
  }

  /** Anybody can send them: they are more than there are permits. */
  @Test
  void silentFormsBeforeTheSignInLeaveTheConsoleToOthers() throws Exception {
    URI console = GATEWAY.managementUri();
    String head =
        "POST /console/session HTTP/1.1\r\nHost: %1$s\r\nOrigin: http://%1$s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n"
            .formatted(console.getAuthority());
    for (int i = 0; i < 600; i++) {
      assertThat(first(console, head)).startsWith("HTTP/1.1 100 ");
    }

    ConsoleClient browser = ConsoleClient.signedIn(console, GATEWAY.key());
    assertThat(browser.get("/console").status()).isEqualTo(200);
  }

  @Test
  void aSilentSenderGets408AndTheConnectionEnds() throws Exception {
    Socket silent = open(GATEWAY.uri(), head("/v1/ids", GATEWAY.key(), "Content-Length: 5"));
    Socket slow =
        open(GATEWAY.uri(), head("/v1/ids/batch", GATEWAY.key(), "Content-Length: 5000000"));
    Socket chunked =
        open(GATEWAY.uri(), head("/v1/ids", GATEWAY.key(), "Transfer-Encoding: chunked"));
    send(slow, 3_000);
    chunked.getOutputStream().write("5\r\n{\"a".getBytes(StandardCharsets.US_ASCII));

    assertThat(all(silent)).startsWith("HTTP/1.1 408 ").contains("\"request_timeout\"");
    assertThat(all(chunked)).startsWith("HTTP/1.1 408 ").contains("Connection: close");
    // It was refused before it came, and its connection ended because it did not.
    assertThat(all(slow)).startsWith("HTTP/1.1 413 ");
    awaitNothingHeld();
    new NextAnswers(GATEWAY.uri(), GATEWAY.key()).areRight();
  }

  /**
   * Idle connections end after five seconds then: it is no idle one, and not the client's fault.
   */
  @Test
  @Tag("faults")
  void aSilentSenderGets408AlsoAtTheLimitOfConnections() throws Exception {
    try (GatewayFixture gateway = GatewayFixture.own("COATCHECK_CONNECTIONS_MAX", "100")) {
      List<Socket> silent = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        silent.add(open(gateway.uri(), head("/v1/ids", gateway.key(), "Content-Length: 5")));
      }
      for (Socket each : silent.subList(0, 90)) {
        assertThat(all(each)).startsWith("HTTP/1.1 408 ").contains("\"request_timeout\"");
      }
    }
  }

  @Test
  @Tag("faults")
  void aBodyThatComesWithTheLeastRateIsTaken() throws Exception {
    GATEWAY.client().put(TestType.of("charge", "ch"));
    byte[] body =
        ("{\"type\":\"charge\"" + " ".repeat(40_000) + "}").getBytes(StandardCharsets.US_ASCII);
    Socket socket =
        open(
            GATEWAY.uri(),
            head("/v1/ids", GATEWAY.key(), "Content-Length: " + body.length, "Connection: close"));
    long begun = System.nanoTime();
    int sent = 0;
    while (sent < body.length) {
      int part = Math.min(1_024, body.length - sent);
      socket.getOutputStream().write(body, sent, part);
      sent += part;
      // 5 KiB a second for eight seconds: the rate is the subject.
      TimeUnit.MILLISECONDS.sleep(200);
    }

    assertThat(all(socket)).startsWith("HTTP/1.1 201 ");
    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThan(Duration.ofSeconds(7));
  }

  @Test
  @Tag("faults")
  void whatNeedsNoBodyIsDecidedBeforeTheBody() throws Exception {
    URI uri = GATEWAY.uri();
    String length = "Content-Length: 1000";

    assertThat(first(uri, head("/v1/ids", "nobody", length))).contains(" 401 ");
    assertThat(first(uri, head("/v1/ids", GATEWAY.keyWith(new Scope("nothing")), length)))
        .contains(" 403 ");
    assertThat(first(uri, head("/v1/idz", GATEWAY.key(), length))).contains(" 404 ");
    assertThat(first(uri, head("/v1/workers", GATEWAY.key(), length))).contains(" 405 ");
    assertThat(
            first(
                uri,
                head("/v1/ids", GATEWAY.key(), length).replace("application/json", "text/plain")))
        .contains(" 415 ");
    // Some were told at once that the connection ends; the others send nothing of the body.
    for (Socket socket : sockets) {
      all(socket);
    }
    awaitNothingHeld();
  }

  /** Refused as they are, they hold what an API key may hold of the memory for small bodies. */
  @Test
  @Tag("faults")
  void bodiesOfStrangersAreWaitedForInBoundedMemory() throws Exception {
    String head = head("/v1/ids", "nobody", "Content-Length: 9", "X-Large: " + "x".repeat(6_000));
    // Those of a round are given up after five seconds, and a busy machine may need as many.
    Awaitility.await()
        .until(
            () -> {
              List<Socket> round = new ArrayList<>();
              for (int i = 0; i < 500; i++) {
                round.add(open(GATEWAY.uri(), head));
              }
              boolean someMayNotWait = false;
              for (Socket socket : round) {
                String answer =
                    new String(socket.getInputStream().readNBytes(400), StandardCharsets.UTF_8);
                assertThat(answer).startsWith("HTTP/1.1 401 ");
                someMayNotWait |= answer.contains("Connection: close");
              }
              return someMayNotWait;
            });

    assertThat(metric("coatcheck_bodies_bytes")).isLessThanOrEqualTo(4 << 20);
    new NextAnswers(GATEWAY.uri(), GATEWAY.key()).areRight();
  }

  @Test
  @Tag("faults")
  void memoryIsCountedBackAfterAThousandAbortedBodies() throws Exception {
    for (int round = 0; round < 10; round++) {
      for (int i = 0; i < 100; i++) {
        open(GATEWAY.uri(), head("/v1/ids/batch", GATEWAY.key(), "Content-Length: 100000"));
        send(sockets.getLast(), i * 900);
      }
      for (Socket socket : sockets) {
        socket.setOption(StandardSocketOptions.SO_LINGER, 0);
      }
      closeAll(sockets);
      sockets.clear();
    }

    awaitNothingHeld();
    new NextAnswers(GATEWAY.uri(), GATEWAY.key()).areRight();
  }

  private Socket open(URI gateway, String head) throws IOException {
    Socket socket = new Socket();
    sockets.add(socket);
    socket.connect(new InetSocketAddress(gateway.getHost(), gateway.getPort()), TIMEOUT_MILLIS);
    socket.setSoTimeout(TIMEOUT_MILLIS);
    socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
    return socket;
  }

  private static String head(String path, String apiKey, String... headers) {
    return "POST "
        + path
        + " HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\nAuthorization: Bearer "
        + apiKey
        + "\r\n"
        + String.join("\r\n", headers)
        + "\r\n\r\n";
  }

  /** Sends spaces; a gateway that has refused the body may have gone. */
  private static void send(Socket socket, int bytes) throws IOException {
    try {
      for (int sent = 0; sent < bytes; sent += PART.length) {
        socket.getOutputStream().write(PART, 0, Math.min(PART.length, bytes - sent));
      }
    } catch (SocketException refused) {
      // Its answer says why.
    }
  }

  private static String all(Socket socket) throws IOException {
    return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  /** The first line of the answer to a request whose body never comes. */
  private String first(URI gateway, String head) throws IOException {
    InputStream in = open(gateway, head).getInputStream();
    return new String(in.readNBytes(25), StandardCharsets.US_ASCII);
  }

  private static void awaitNothingHeld() {
    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(
            () -> {
              assertThat(metric("coatcheck_bodies_waiting")).isZero();
              assertThat(metric("coatcheck_bodies_bytes")).isZero();
            });
  }

  private static double metric(String name) throws IOException, InterruptedException {
    return metric(GATEWAY.managementUri(), name);
  }

  /** A metric without labels. */
  static double metric(URI management, String name) throws IOException, InterruptedException {
    URI metrics = management.resolve("/metrics");
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(HttpRequest.newBuilder(metrics).build(), BodyHandlers.ofString())
          .body()
          .lines()
          .filter(line -> line.startsWith(name + " "))
          .mapToDouble(line -> Double.parseDouble(line.split(" ", 2)[1]))
          .findFirst()
          .orElseThrow();
    }
  }

  private static void closeAll(Collection<Socket> sockets) throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
