package dev.coatcheck.app.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Downloads from a gateway that vanishes after the first row, or only takes its time. */
@Timeout(60)
class WatchedBodyTest {
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final String ROW = "charge,1\n";

  @TempDir Path folder;

  @Test
  void aBodyThatFallsSilentBreaksOff() throws Exception {
    // Long enough for the first row: what is silent is the rest.
    try (Server server = new Server();
        InputStream body = calls(server).download("/v1/exports", Duration.ofSeconds(2))) {
      assertThat(body.readNBytes(ROW.length())).asString().isEqualTo(ROW);

      assertThatThrownBy(body::readAllBytes)
          .isInstanceOf(IOException.class)
          .hasMessage("no byte came for 2 s");
    }
  }

  @Test
  void aBodyThatEndsIsWhole() throws Exception {
    try (Server server = new Server();
        InputStream body = calls(server).download("/v1/exports", LONG)) {
      server.end.countDown();

      assertThat(body.readAllBytes()).asString().isEqualTo(ROW + ROW);
    }
  }

  private GatewayCalls calls(Server server) throws IOException {
    Path key = Files.writeString(folder.resolve("key"), "ccg_live_x");
    return GatewayCalls.at("http://127.0.0.1:" + server.http.getAddress().getPort(), key);
  }

  /** Sends a head and a row, and at the end another one. */
  private static final class Server implements AutoCloseable {
    final CountDownLatch end = new CountDownLatch(1);
    final HttpServer http;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    Server() throws IOException {
      http = HttpServer.create(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0), 1);
      http.setExecutor(threads);
      http.createContext("/", this::answer);
      http.start();
    }

    private void answer(HttpExchange exchange) throws IOException {
      exchange.getResponseHeaders().set("Request-Id", "req_1");
      exchange.sendResponseHeaders(200, 0);
      try (var body = exchange.getResponseBody()) {
        body.write(ROW.getBytes(StandardCharsets.US_ASCII));
        body.flush();
        end.await();
        body.write(ROW.getBytes(StandardCharsets.US_ASCII));
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public void close() {
      end.countDown();
      http.stop(0);
      threads.close();
    }
  }
}
