package dev.coatcheck.client;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** Stands before a gateway and spoils the next exchanges in turn; after those it passes them on. */
public final class FaultyProxy implements AutoCloseable {
  public enum Fault {
    /** Not passed on: 503 with {@code Retry-After: 1}. */
    BUSY,
    /** Not passed on: 503 with {@code Retry-After: 60}. */
    BUSY_FOR_LONG,
    /** Passed on, and the answer thrown away with the connection. */
    LOST_ANSWER,
    /** Passed on, and the second half of the answer never comes. */
    HALF_ANSWER
  }

  private final Queue<Fault> faults = new ConcurrentLinkedQueue<>();
  private final AtomicInteger seen = new AtomicInteger();
  private final HttpClient http = HttpClient.newHttpClient();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final HttpServer server;
  private final URI gateway;

  public FaultyProxy(URI gateway) throws IOException {
    this.gateway = gateway;
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::handle);
    server.setExecutor(threads);
    server.start();
  }

  public URI uri() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  /** How many requests came since the last call. */
  public int seen() {
    return seen.getAndSet(0);
  }

  public void next(Fault fault) {
    faults.add(fault);
  }

  @Override
  public void close() {
    server.stop(0);
    threads.close();
    http.close();
  }

  private void handle(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    seen.incrementAndGet();
    Fault fault = faults.poll();
    if (fault == Fault.BUSY || fault == Fault.BUSY_FOR_LONG) {
      exchange.getResponseHeaders().add("Retry-After", fault == Fault.BUSY ? "1" : "60");
      exchange.sendResponseHeaders(503, -1);
      exchange.close();
      return;
    }
    HttpRequest.Builder request =
        HttpRequest.newBuilder(gateway.resolve(exchange.getRequestURI().toString()));
    exchange
        .getRequestHeaders()
        .forEach(
            (name, values) -> {
              if (name.matches("(?i)authorization|content-type|idempotency-key")) {
                request.header(name, values.getFirst());
              }
            });
    HttpResponse<byte[]> answer;
    try {
      answer =
          http.send(
              request
                  .method(exchange.getRequestMethod(), HttpRequest.BodyPublishers.ofByteArray(body))
                  .build(),
              HttpResponse.BodyHandlers.ofByteArray());
    } catch (InterruptedException stopped) {
      throw new IOException(stopped);
    }
    if (fault == Fault.LOST_ANSWER) {
      exchange.close();
      return;
    }
    answer
        .headers()
        .map()
        .forEach(
            (name, values) -> {
              if (name.matches("(?i)request-id|content-type|retry-after")) {
                exchange.getResponseHeaders().add(name, values.getFirst());
              }
            });
    exchange.sendResponseHeaders(
        answer.statusCode(), answer.body().length == 0 ? -1 : answer.body().length);
    if (fault == Fault.HALF_ANSWER) {
      exchange.getResponseBody().write(answer.body(), 0, answer.body().length / 2);
      exchange.getResponseBody().flush();
      return;
    }
    exchange.getResponseBody().write(answer.body());
    exchange.close();
  }
}
