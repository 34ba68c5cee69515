package dev.coatcheck.api.routes;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * What stands behind the proxy: takes any request, remembers it, and answers what the header
 * Test-Answer says, {@code 201 /location} for instance, or 200.
 */
final class EdgeService implements AutoCloseable {
  /** A request as it arrived. */
  record Seen(String method, String uri, Map<String, List<String>> headers, String body) {
    String header(String name) {
      return String.join(" + ", headers.getOrDefault(name, List.of()));
    }
  }

  private final HttpServer server;
  private final BlockingQueue<Seen> seen = new LinkedBlockingQueue<>();

  EdgeService() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    server.createContext("/", this::answer);
    server.start();
  }

  int port() {
    return server.getAddress().getPort();
  }

  /** The one request that arrived since the last call. */
  Seen one() {
    Seen first = Objects.requireNonNull(seen.poll(), "nothing arrived");
    if (!seen.isEmpty()) {
      throw new AssertionError("more arrived: " + seen);
    }
    return first;
  }

  void forget() {
    seen.clear();
  }

  boolean sawNothing() {
    return seen.isEmpty();
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      Seen request =
          new Seen(
              exchange.getRequestMethod(),
              exchange.getRequestURI().toString(),
              Map.copyOf(exchange.getRequestHeaders()),
              new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
      seen.add(request);
      String[] wanted = (request.header("Test-answer") + " ").split(" ", 2);
      if (!wanted[1].isBlank()) {
        exchange.getResponseHeaders().set("Location", wanted[1].strip());
      }
      byte[] body = "served".getBytes(StandardCharsets.UTF_8);
      int status = wanted[0].isEmpty() ? 200 : Integer.parseInt(wanted[0]);
      exchange.sendResponseHeaders(status, body.length);
      exchange.getResponseBody().write(body);
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
