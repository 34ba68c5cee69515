package dev.coatcheck.keys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.coatcheck.cluster.lease.LeaseReply;
import dev.coatcheck.cluster.lease.LeaseRequest;
import dev.coatcheck.core.key.SnowflakeLayout;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
      new HttpLeases(uri, () -> "key", SnowflakeLayout.DEFAULT, "shop-1")
          .apply(new LeaseRequest.Acquire());
      assertThat(upgrade.get()).isNull();
    } finally {
      server.stop(0);
    }
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
      return new HttpLeases(uri, () -> "key", SnowflakeLayout.DEFAULT, "shop-1")
          .apply(new LeaseRequest.Acquire());
    } finally {
      server.stop(0);
    }
  }
}
