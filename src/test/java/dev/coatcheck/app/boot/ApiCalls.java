package dev.coatcheck.app.boot;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Calls of a gateway that may go away while they are under way. */
final class ApiCalls {
  private static final Duration TIMEOUT = Duration.ofMinutes(1);
  private static final JsonMapper JSON = new JsonMapper();
  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(TIMEOUT).build();

  private static final long PAUSE_MILLIS = 200;
  private static final int TRIES_MAX = 300;

  private final URI gateway;
  private final String key;
  private final int tries;

  ApiCalls(URI gateway, String key) {
    this(gateway, key, 1);
  }

  private ApiCalls(URI gateway, String key, int tries) {
    this.gateway = gateway;
    this.key = key;
    this.tries = tries;
  }

  /** Sends the same again after a 503, as a client does: a busy machine is slow to answer. */
  ApiCalls patient() {
    return new ApiCalls(gateway, key, TRIES_MAX);
  }

  /**
   * The body of an answer that went well.
   *
   * @throws IOException if there was none, or it was 503: the outcome of the call is unknown
   */
  JsonNode send(String method, String path, Object body) throws IOException, InterruptedException {
    return json(send(method, path, body, Map.of()).body());
  }

  /** As {@link #send(String, String, Object)}, with further headers; all of the answer. */
  HttpResponse<String> send(String method, String path, Object body, Map<String, String> headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(gateway.resolve(path))
            .timeout(TIMEOUT)
            .header("Authorization", "Bearer " + key)
            .header("Content-Type", "application/json")
            .method(method, BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body)));
    headers.forEach(request::header);
    HttpResponse<String> response = HTTP.send(request.build(), BodyHandlers.ofString());
    for (int left = tries - 1; response.statusCode() == 503 && left > 0; left--) {
      Thread.sleep(PAUSE_MILLIS);
      response = HTTP.send(request.build(), BodyHandlers.ofString());
    }
    if (response.statusCode() == 503) {
      throw new IOException(response.body());
    }
    if (response.statusCode() >= 300) {
      throw new AssertionError(response.statusCode() + " " + response.body());
    }
    return response;
  }

  static JsonNode json(String text) {
    return JSON.readTree(text);
  }

  /** A metric without labels. */
  static double metric(URI management, String name) throws IOException, InterruptedException {
    return HTTP
        .send(
            HttpRequest.newBuilder(management.resolve("/metrics")).build(),
            BodyHandlers.ofString())
        .body()
        .lines()
        .filter(line -> line.startsWith(name + " "))
        .mapToDouble(line -> Double.parseDouble(line.split(" ", 2)[1]))
        .findFirst()
        .orElseThrow();
  }
}
