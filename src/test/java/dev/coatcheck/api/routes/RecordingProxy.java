package dev.coatcheck.api.routes;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.coatcheck.api.routes.Contract.Answer;
import dev.coatcheck.api.routes.Contract.Sent;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Stands before a gateway, passes on what a client sends, one request after the other, and keeps
 * what was exchanged.
 */
final class RecordingProxy implements AutoCloseable {
  record Exchange(Sent sent, Answer answer) {}

  /** Of one connection, or not for a client that decompresses nothing. */
  private static final Set<String> NOT_PASSED_ON =
      Set.of(
          "accept-encoding",
          "connection",
          "content-length",
          "date",
          "host",
          "http2-settings",
          "transfer-encoding",
          "upgrade");

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final List<Exchange> exchanges = new CopyOnWriteArrayList<>();
  private final URI gateway;
  private final HttpServer server;

  RecordingProxy(URI gateway) throws IOException {
    this.gateway = gateway;
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::passOn);
    server.start();
  }

  URI uri() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  List<Exchange> exchanges() {
    return exchanges;
  }

  private void passOn(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] body = exchange.getRequestBody().readAllBytes();
      String target = exchange.getRequestURI().toString();
      Map<String, List<String>> headers = passedOn(exchange.getRequestHeaders());
      HttpRequest.Builder request =
          HttpRequest.newBuilder(gateway.resolve(target))
              .method(
                  exchange.getRequestMethod(),
                  body.length == 0 ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body));
      headers.forEach((name, values) -> values.forEach(value -> request.header(name, value)));
      HttpResponse<byte[]> response = http.send(request.build(), BodyHandlers.ofByteArray());
      exchanges.add(
          new Exchange(
              new Sent(
                  exchange.getRequestMethod(),
                  target,
                  headers,
                  body.length == 0 ? null : new String(body, StandardCharsets.UTF_8)),
              new Answer(
                  response.statusCode(),
                  response.headers().map(),
                  new String(response.body(), StandardCharsets.UTF_8))));
      exchange.getResponseHeaders().putAll(passedOn(response.headers().map()));
      exchange.sendResponseHeaders(
          response.statusCode(), response.body().length == 0 ? -1 : response.body().length);
      if (response.body().length > 0) {
        exchange.getResponseBody().write(response.body());
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static Map<String, List<String>> passedOn(Map<String, List<String>> headers) {
    Map<String, List<String>> some = new HashMap<>(headers);
    some.keySet().removeIf(name -> NOT_PASSED_ON.contains(name.toLowerCase(Locale.ROOT)));
    return some;
  }

  @Override
  public void close() {
    server.stop(0);
    http.close();
  }
}
