package dev.coatcheck.bench;

import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.function.Supplier;

/** The requests that a gateway is measured with, all about one type. */
record Requests(InetSocketAddress server, String key, int connections) {
  static final int BATCH_ROWS = 1_000;
  static final int BATCH_CONNECTIONS = 4;
  static final String LOCATION = "https://example.com/things/";

  private static final Prefix PREFIX = new Prefix("bench");
  private static final String TYPE =
      """
      {"prefix":"%s","key_scheme":"snowflake","redirect":{"template":"%s{id}"}}\
      """
          .formatted(PREFIX.value(), LOCATION);

  static Requests to(String url, String key, int connections) {
    URI gateway = URI.create(url);
    return new Requests(
        new InetSocketAddress(gateway.getHost(), gateway.getPort()), key, connections);
  }

  void register() {
    load(1, body("PUT", "/v1/types/bench", TYPE)).times(1);
  }

  /** Mints in batches. */
  void mint(int rows) {
    batches().times((rows + BATCH_ROWS - 1) / BATCH_ROWS);
  }

  HttpLoad batches() {
    return load(
        BATCH_CONNECTIONS,
        body("POST", "/v1/ids/batch", "{\"type\":\"bench\",\"count\":" + BATCH_ROWS + "}"));
  }

  HttpLoad mints() {
    return load(connections, body("POST", "/v1/ids", "{\"type\":\"bench\"}"));
  }

  HttpLoad resolves(Supplier<Token> tokens) {
    return new HttpLoad(
        server,
        connections,
        () -> get("/v1/ids/" + new PublicId(PREFIX, tokens.get()), authorization()));
  }

  HttpLoad redirects(Supplier<Token> tokens) {
    return new HttpLoad(
        server, connections, () -> get("/r/" + new PublicId(PREFIX, tokens.get()), ""));
  }

  /** Requests that the gateway answers without doing anything. */
  HttpLoad nothing() {
    return load(connections, get("/health/live", ""));
  }

  private HttpLoad load(int connections, String request) {
    return new HttpLoad(server, connections, () -> request);
  }

  private String body(String method, String path, String json) {
    return method
        + " "
        + path
        + " HTTP/1.1\r\nHost: localhost\r\n"
        + authorization()
        + "Content-Type: application/json\r\nContent-Length: "
        + json.length()
        + "\r\n\r\n"
        + json;
  }

  private String authorization() {
    return "Authorization: Bearer " + key + "\r\n";
  }

  private static String get(String path, String headers) {
    return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
  }
}
