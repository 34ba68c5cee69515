package dev.coatcheck.keys;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.coatcheck.cluster.lease.LeaseReply;
import dev.coatcheck.cluster.lease.LeaseRequest;
import dev.coatcheck.core.key.SnowflakeLayout;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class HttpLeasesTest {
  private static final String LEASE =
      """
      {"id":"9f86","worker":4,"epoch":1,"from":"2026-11-21T09:30:00Z","until":"2026-11-21T09:30:03Z"}
      """;

  /** Only the length of the answer is wrong. */
  @Test
  void anAnswerLongerThanThatOfAGatewayIsNotKept() throws IOException {
    byte[] body = (LEASE + " ".repeat(70_000)).getBytes(StandardCharsets.UTF_8);
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
      assertThat(
              new HttpLeases(uri, () -> "key", SnowflakeLayout.DEFAULT, "shop-1")
                  .apply(new LeaseRequest.Acquire()))
          .isInstanceOf(LeaseReply.Failed.class);
    } finally {
      server.stop(0);
    }
  }
}
