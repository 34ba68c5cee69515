package dev.coatcheck.keys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.coatcheck.api.server.TestCertificate;
import dev.coatcheck.cluster.lease.LeaseReply;
import dev.coatcheck.cluster.lease.LeaseRequest;
import dev.coatcheck.core.key.SnowflakeLayout;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

class HttpLeasesTest {
  private static final String LEASE =
      """
      {"id":"9f86","worker":4,"epoch":1,"from":"2026-11-21T09:30:00Z","until":"2026-11-21T09:30:03Z"}
      """;

  /** A connection of HTTP/2 that fell silent would be used again after each timeout. */
  @Test
  void aConnectionIsNeverOneOfHttp2() throws IOException {
    AtomicReference<@Nullable String> upgrade = new AtomicReference<>("none came");
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          upgrade.set(exchange.getRequestHeaders().getFirst("Upgrade"));
          exchange.sendResponseHeaders(503, -1);
          exchange.close();
        });
    server.start();
    try {
      URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
      new HttpLeases(uri, () -> "key", null, SnowflakeLayout.DEFAULT, "shop-1")
          .apply(new LeaseRequest.Acquire());
      assertThat(upgrade.get()).isNull();
    } finally {
      server.stop(0);
    }
  }

  /** Such as that of a company, which no JDK knows. */
  @Test
  void aGatewayWithAPrivateAuthorityIsTrustedByItsContext(@TempDir Path folder) throws Exception {
    TestCertificate own = TestCertificate.make(folder, "own", "EC");
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    store.setKeyEntry("own", own.key(), new char[0], new Certificate[] {own.certificate()});
    KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
    keys.init(store, new char[0]);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), null, null);
    HttpsServer server =
        HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(context));
    server.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(403, -1);
          exchange.close();
        });
    server.start();
    URI uri = URI.create("https://127.0.0.1:" + server.getAddress().getPort());
    try {
      assertThat(reason(Snowflakes.leasedFrom(uri, "key"))).contains("SSLHandshakeException");
      assertThat(reason(Snowflakes.leasedFrom(uri, "key").tls(TestCertificate.trusting(own))))
          .contains("answered 403");
    } finally {
      server.stop(0);
    }
  }

  /** Why there is no key. On a busy machine the first answers may be late. */
  private static String reason(Snowflakes.Leased leased) {
    try (Snowflakes keys = leased.open()) {
      return await()
          .until(
              () -> {
                try {
                  return Long.toString(keys.next());
                } catch (KeysUnavailableException none) {
                  return String.valueOf(none.getMessage());
                }
              },
              reason -> reason.contains("SSL") || reason.contains("answered"));
    }
  }

  @Test
  void aContextIsASettingOfGatewaysAlone() {
    SSLContext context = TestCertificate.trusting();
    Snowflakes.Leased leased = Snowflakes.leasedFrom(new PGSimpleDataSource());

    assertThatThrownBy(() -> leased.tls(context)).hasMessageContaining("driver");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://shop:secret@127.0.0.1:8080",
        "http://127.0.0.1:8080?key=secret",
        "http://127.0.0.1:8080/#secret",
        "127.0.0.1"
      })
  void aUrlThatIsNoGatewaysIsRefusedAndNotTold(String url) {
    assertThatThrownBy(() -> Snowflakes.leasedFrom(URI.create(url), "key"))
        .isInstanceOf(IllegalArgumentException.class)
        .extracting(Throwable::getMessage)
        .asString()
        .doesNotContain("secret");
  }

  /** Only the length of the answer is wrong. */
  @Test
  void anAnswerLongerThanThatOfAGatewayIsNotKept() throws IOException {
    assertThat(acquired(LEASE + " ".repeat(70_000))).isInstanceOf(LeaseReply.Failed.class);
  }

  /** Such as a proxy adds to a problem. */
  @Test
  void aLongTextInAnAnswerIsRead() throws IOException {
    String note = "\"note\":\"" + "x\\\"".repeat(20_000) + "\",";

    assertThat(acquired(LEASE.replace("{", "{" + note))).isInstanceOf(LeaseReply.Acquired.class);
  }

  private static LeaseReply acquired(String answer) throws IOException {
    byte[] body = answer.getBytes(StandardCharsets.UTF_8);
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(201, 0);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    try {
      URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
      return new HttpLeases(uri, () -> "key", null, SnowflakeLayout.DEFAULT, "shop-1")
          .apply(new LeaseRequest.Acquire());
    } finally {
      server.stop(0);
    }
  }
}
