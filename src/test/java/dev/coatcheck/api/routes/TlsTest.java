package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.api.server.TestCertificate;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.Certificate;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A gateway with a certificate speaks TLS on its port and on the port for the public. */
class TlsTest {
  private static final Path FOLDER = folder();
  private static final Path CERTIFICATE = FOLDER.resolve("tls.crt");
  private static final Path KEY = FOLDER.resolve("tls.key");
  private static final TestCertificate FIRST = TestCertificate.make(FOLDER, "first", "EC");
  private static final TestCertificate SECOND = TestCertificate.make(FOLDER, "second", "RSA");
  private static final SSLContext TRUST = TestCertificate.trusting(FIRST, SECOND);
  private static final String LARGEST = "/docs/assets/swagger-ui-bundle.js";

  /** Between two requests of a client that goes on and on. */
  private static final long BETWEEN_NANOS = 5_000_000;

  @RegisterExtension static final GatewayFixture GATEWAY = gateway();

  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).sslContext(TRUST).build();

  private static Path folder() {
    try {
      return Files.createTempDirectory("coatcheck-tls");
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static GatewayFixture gateway() {
    serve(FIRST);
    return GatewayFixture.own(
        "COATCHECK_TLS_CERTIFICATE_FILE",
        CERTIFICATE.toString(),
        "COATCHECK_TLS_KEY_FILE",
        KEY.toString(),
        "COATCHECK_PUBLIC_PORT",
        "0",
        "COATCHECK_MANAGEMENT_PORT",
        "0");
  }

  @BeforeAll
  static void type() throws Exception {
    TestType charge = TestType.of("charge", "ch").redirect("https://shop.example/charges/{id}");
    assertThat(send(GATEWAY.uri(), "PUT", "/v1/types/charge", charge.body()).statusCode())
        .isIn(200, 201);
  }

  @Test
  void everyWayAnswersOverTls() throws Exception {
    URI gateway = GATEWAY.uri();
    assertThat(gateway.getScheme()).isEqualTo("https");
    for (int i = 0; i < 50; i++) {
      JsonNode minted = body(send(gateway, "POST", "/v1/ids", json("type", "charge")), 201);
      String id = minted.path("id").stringValue();
      assertThat(body(send(gateway, "GET", "/v1/ids/" + id, null), 200)).isEqualTo(minted);
      HttpResponse<String> redirect = send(gateway, "GET", "/r/" + id, null);
      assertThat(redirect.headers().firstValue("Location"))
          .contains("https://shop.example/charges/" + id);
      assertThat(send(GATEWAY.publicUri(), "GET", "/r/" + id, null).headers().map().get("Location"))
          .isEqualTo(redirect.headers().map().get("Location"));
    }
    HttpResponse<String> file = send(gateway, "GET", LARGEST, null);
    assertThat(file.statusCode()).isEqualTo(200);
    assertThat(file.body()).hasSizeGreaterThan(1_000_000);
    // Refused before its body is read, which is dropped, and the connection goes on.
    String large = json("type", "x".repeat(1_500_000));
    assertThat(send(gateway, "POST", "/v1/ids", large).statusCode()).isEqualTo(413);
    assertThat(send(gateway, "GET", "/v1/types", null).statusCode()).isEqualTo(200);
    assertThat(send(gateway, "GET", "/v1/exports?type=charge", null).body().lines())
        .hasSizeGreaterThan(50);
  }

  @Test
  void olderVersionsThanTls12AreRefused() throws Exception {
    for (String version : List.of("TLSv1.2", "TLSv1.3")) {
      try (SSLSocket socket = connect()) {
        socket.setEnabledProtocols(new String[] {version});
        assertThat(answer(socket)).isEqualTo(200);
        assertThat(socket.getSession().getProtocol()).isEqualTo(version);
      }
    }
    // Java's client has no older ones, so a hello by hand: 22 is a handshake, 21 an alert.
    assertThat(firstByteAfterHello("0303")).isEqualTo(22);
    assertThat(firstByteAfterHello("0302")).isEqualTo(21);
    assertThat(firstByteAfterHello("0301")).isEqualTo(21);
  }

  @Test
  void plainHttpGetsNoAnswerAndHarmsNothing() throws Exception {
    byte[] request =
        RawHttp.request(List.of("GET /health/live HTTP/1.1", "Host: gateway"), new byte[0]);
    for (int i = 0; i < 20; i++) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), GATEWAY.uri().getPort())) {
        socket.setSoTimeout(30_000);
        socket.getOutputStream().write(request);
        assertThat(new String(all(socket), StandardCharsets.ISO_8859_1)).doesNotContain("HTTP");
      }
    }
    assertThat(send(GATEWAY.uri(), "GET", "/health/ready", null).statusCode()).isEqualTo(200);
    // The management port has no TLS.
    assertThat(send(GATEWAY.managementUri(), "GET", "/health/ready", null).statusCode())
        .isEqualTo(200);
  }

  @Test
  void thePortForThePublicHasLinksAndHealthOnly() throws Exception {
    URI open = GATEWAY.publicUri();
    assertThat(send(open, "GET", "/health/ready", null).statusCode()).isEqualTo(200);
    assertThat(send(open, "GET", "/health/live", null).statusCode()).isEqualTo(200);
    for (String link : List.of("/r/" + TestClient.UNKNOWN_ID, "/legacy/charge/7")) {
      HttpResponse<String> reply = send(open, "GET", link, null);
      assertThat(reply.statusCode()).isEqualTo(404);
      assertThat(reply.body()).isEqualToIgnoringWhitespace(withIdOf(reply, link));
    }
    JsonNode minted = body(send(GATEWAY.uri(), "POST", "/v1/ids", json("type", "charge")), 201);
    String id = minted.path("id").stringValue();
    for (String request :
        List.of(
            "GET /v1/ids/" + id,
            "GET /v1/types",
            "GET /v1/urls/auth-request",
            "POST /v1/ids",
            "POST /v1/ids/resolve",
            "PUT /v1/types/charge",
            "GET /metrics",
            "GET /docs",
            "GET /openapi.yaml",
            "GET /",
            "GET /favicon.ico")) {
      String[] words = request.split(" ", 2);
      HttpResponse<String> reply =
          send(open, words[0], words[1], words[0].equals("GET") ? null : json("type", "charge"));
      assertThat(reply.statusCode()).as(request).isEqualTo(404);
      assertThat(reply.body()).contains("\"code\":\"not_found\"").doesNotContain(id);
    }
  }

  @Test
  @Tag("faults")
  void aChangedCertificateIsServedWithoutAFailedRequest() throws Exception {
    AtomicBoolean isOver = new AtomicBoolean();
    try (ExecutorService threads = Executors.newFixedThreadPool(2);
        SSLSocket open = connect()) {
      Certificate before = served(open);
      TestCertificate next = before.equals(FIRST.certificate()) ? SECOND : FIRST;
      Future<Integer> kept =
          threads.submit(
              () -> {
                int answers = 0;
                for (; !isOver.get(); answers++) {
                  assertThat(answer(open)).isEqualTo(200);
                  LockSupport.parkNanos(BETWEEN_NANOS);
                }
                return answers;
              });
      Future<Integer> fresh =
          threads.submit(
              () -> {
                int answers = 0;
                for (; !isOver.get(); answers++) {
                  try (SSLSocket socket = connect()) {
                    assertThat(answer(socket)).isEqualTo(200);
                  }
                  LockSupport.parkNanos(BETWEEN_NANOS);
                }
                return answers;
              });
      try {
        serve(next);
        awaitServed(next);
        // The open connection goes on with its certificate.
        assertThat(served(open)).isEqualTo(before);

        double refused = refusals();
        Files.writeString(CERTIFICATE, "no certificate");
        Awaitility.await().until(() -> refusals() > refused);
        awaitServed(next);
        serve(next);
      } finally {
        isOver.set(true);
      }
      assertThat(kept.get()).isPositive();
      assertThat(fresh.get()).isPositive();
    }
  }

  /** As without TLS: what lies in buffers still comes, and then the end. */
  @Test
  @Tag("faults")
  void aClientThatTakesNothingForHalfAMinuteIsCutOff() throws Exception {
    try (SSLSocket socket = slow()) {
      socket
          .getOutputStream()
          .write(RawHttp.request(List.of("GET " + LARGEST + " HTTP/1.1", "Host: a"), new byte[0]));
      Thread.sleep(Duration.ofSeconds(33));

      assertThat(all(socket)).hasSizeLessThan(1_400_000);
    }
    assertThat(send(GATEWAY.uri(), "GET", "/health/ready", null).statusCode()).isEqualTo(200);
  }

  /** Of HTTP/1.0, where the body ends with the connection. Java takes a FIN alone for an end. */
  @Test
  void aPartOfAnExportNeverLooksLikeTheWhole() throws Exception {
    GATEWAY.execute(
        "with head as (update coatcheck.change_head set audited = audited + 100 returning audited)"
            + " insert into coatcheck.audit_entry (number, at, actor, action, subjects, detail)"
            + " select audited - 100 + n, now(), 'long', 'test.long', '{}',"
            + " jsonb_build_object('text', repeat(md5(n::text), 6000))"
            + " from head, generate_series(1, 100) n");
    String leaked = GATEWAY.keyWith(Scope.AUDIT_READ);
    double before = counted("coatcheck_transfers_broken_off_total");
    try (SSLSocket socket = slow()) {
      List<String> request =
          List.of("GET /v1/audit/export HTTP/1.0", "Host: a", "Authorization: Bearer " + leaked);
      socket.getOutputStream().write(RawHttp.request(request, new byte[0]));
      InputStream in = socket.getInputStream();
      assertThat(new String(in.readNBytes(12), StandardCharsets.US_ASCII))
          .isEqualTo("HTTP/1.1 200");

      GATEWAY.revokeKey(leaked);
      Awaitility.await().until(() -> counted("coatcheck_transfers_broken_off_total") > before);

      assertThatThrownBy(in::readAllBytes).isInstanceOf(IOException.class);
    }
  }

  @Test
  void anUnknownCertificateIsNotTrusted() {
    assertThatThrownBy(
            () -> {
              try (HttpClient strict = HttpClient.newHttpClient()) {
                strict.send(
                    HttpRequest.newBuilder(GATEWAY.uri().resolve("/health/live")).build(),
                    BodyHandlers.discarding());
              }
            })
        .isInstanceOf(javax.net.ssl.SSLException.class);
  }

  private static void serve(TestCertificate certificate) {
    try {
      Path key = Files.writeString(FOLDER.resolve("new.key"), certificate.keyPem());
      Path pem = Files.writeString(FOLDER.resolve("new.crt"), certificate.pem());
      Files.move(key, KEY, StandardCopyOption.REPLACE_EXISTING);
      Files.move(pem, CERTIFICATE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static void awaitServed(TestCertificate expected) {
    Awaitility.await()
        .until(
            () -> {
              try (SSLSocket socket = connect()) {
                return served(socket).equals(expected.certificate());
              }
            });
  }

  private static Certificate served(SSLSocket socket) throws IOException {
    return socket.getSession().getPeerCertificates()[0];
  }

  private static double refusals() throws Exception {
    return counted("coatcheck_tls_reloads_total{outcome=\"refused\"}");
  }

  private static double counted(String name) throws Exception {
    return send(GATEWAY.managementUri(), "GET", "/metrics", null)
        .body()
        .lines()
        .filter(line -> line.startsWith(name))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
        .sum();
  }

  private static SSLSocket connect() throws IOException {
    SSLSocket socket =
        (SSLSocket) TRUST.getSocketFactory().createSocket("127.0.0.1", GATEWAY.uri().getPort());
    socket.setSoTimeout(30_000);
    return socket;
  }

  /** One that holds back little. */
  private static SSLSocket slow() throws IOException {
    SSLSocket socket = (SSLSocket) TRUST.getSocketFactory().createSocket();
    socket.setReceiveBufferSize(4 << 10);
    socket.connect(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), GATEWAY.uri().getPort()));
    socket.setSoTimeout(30_000);
    socket.startHandshake();
    return socket;
  }

  private static int answer(SSLSocket socket) throws IOException {
    socket
        .getOutputStream()
        .write(RawHttp.request(List.of("GET /health/live HTTP/1.1", "Host: a"), new byte[0]));
    return RawHttp.read(socket.getInputStream(), false).status();
  }

  /** One cipher suite, curve and signature that both sides have. */
  private static int firstByteAfterHello(String version) throws IOException {
    String extensions = "000a000400020017" + "000d0006000404030401" + "000b00020100";
    String hello =
        version
            + "00".repeat(32)
            + "00"
            + "0004c02bc02f"
            + "0100"
            + HexFormat.of().toHexDigits((short) (extensions.length() / 2))
            + extensions;
    String handshake = "0100" + HexFormat.of().toHexDigits((short) (hello.length() / 2)) + hello;
    String sent =
        "160301" + HexFormat.of().toHexDigits((short) (handshake.length() / 2)) + handshake;
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), GATEWAY.uri().getPort())) {
      socket.setSoTimeout(30_000);
      socket.getOutputStream().write(HexFormat.of().parseHex(sent));
      return socket.getInputStream().read();
    }
  }

  private static byte[] all(Socket socket) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    try (InputStream in = new BufferedInputStream(socket.getInputStream())) {
      in.transferTo(all);
    } catch (IOException ended) {
      // What came before the end counts.
    }
    return all.toByteArray();
  }

  private static String withIdOf(HttpResponse<String> reply, String link) throws Exception {
    HttpResponse<String> onGateway = send(GATEWAY.uri(), "GET", link, null);
    return onGateway.body().replace(requestId(onGateway), requestId(reply));
  }

  private static String requestId(HttpResponse<String> reply) {
    return reply.headers().firstValue("Request-Id").orElseThrow();
  }

  private static JsonNode body(HttpResponse<String> reply, int status) {
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(status);
    return new JsonMapper().readTree(reply.body());
  }

  private static HttpResponse<String> send(
      URI base, String method, String path, @Nullable String body) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(base.resolve(path))
            .timeout(Duration.ofSeconds(30))
            .header("Authorization", "Bearer " + GATEWAY.key())
            .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
    if (body != null) {
      request.header("Content-Type", "application/json");
    }
    return HTTP.send(request.build(), BodyHandlers.ofString());
  }
}
