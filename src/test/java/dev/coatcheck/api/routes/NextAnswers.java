package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The question after each fault: are the next thousand answers right? */
public final class NextAnswers {
  private static final String TYPE = "after_fault";
  private static final String WEB = "https://shop.example/";
  private static final int IDS = 100;
  private static final int ROUNDS = 4;
  private static final int ATTEMPTS = 20;
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final JsonMapper JSON = new JsonMapper();

  private final URI gateway;
  private final String apiKey;

  public NextAnswers(URI gateway, String apiKey) {
    this.gateway = gateway;
    this.apiKey = apiKey;
  }

  /** 100 mints, and 450 resolves and 450 redirects of what they made; on one connection. */
  public void areRight() throws IOException, InterruptedException {
    try (HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      String type =
          json(
              "prefix",
              "aft",
              "key_scheme",
              "snowflake",
              "redirect",
              Map.of("template", WEB + "{id}"));
      assertThat(send(http, "PUT", "/v1/types/" + TYPE, type).statusCode()).isIn(200, 201);
      Set<List<String>> made = new HashSet<>();
      for (int i = 0; i < IDS; i++) {
        HttpResponse<String> minted = send(http, "POST", "/v1/ids", json("type", TYPE));
        assertThat(minted.statusCode()).as(minted.body()).isEqualTo(201);
        JsonNode body = JSON.readTree(minted.body());
        made.add(List.of(body.at("/id").asString(), body.at("/key").asString()));
      }
      assertThat(made).hasSize(IDS);
      for (int round = 0; round <= ROUNDS; round++) {
        for (List<String> idAndKey : made) {
          checkResolve(http, idAndKey);
          if (round < ROUNDS) {
            checkRedirect(http, idAndKey.getFirst());
          }
        }
      }
    }
  }

  private void checkResolve(HttpClient http, List<String> idAndKey)
      throws IOException, InterruptedException {
    HttpResponse<String> resolved = send(http, "GET", "/v1/ids/" + idAndKey.getFirst(), "");
    assertThat(resolved.statusCode()).as(resolved.body()).isEqualTo(200);
    JsonNode body = JSON.readTree(resolved.body());
    assertThat(List.of(body.at("/id").asString(), body.at("/key").asString())).isEqualTo(idAndKey);
  }

  private void checkRedirect(HttpClient http, String id) throws IOException, InterruptedException {
    HttpResponse<String> redirect = send(http, "GET", "/r/" + id, "");
    assertThat(redirect.statusCode()).as(redirect.body()).isEqualTo(302);
    assertThat(redirect.headers().firstValue("Location")).contains(WEB + id);
  }

  private HttpResponse<String> send(HttpClient http, String method, String path, String body)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(gateway.resolve(path))
            .timeout(TIMEOUT)
            .header("Authorization", "Bearer " + apiKey);
    if (body.isEmpty()) {
      request.method(method, BodyPublishers.noBody());
    } else {
      request
          .header("Content-Type", "application/json")
          .method(method, BodyPublishers.ofString(body));
    }
    for (int attempt = 1; ; attempt++) {
      HttpResponse<String> response = http.send(request.build(), BodyHandlers.ofString());
      if (attempt == ATTEMPTS || !isDatabaseLate(response)) {
        return response;
      }
    }
  }

  /** On a busy machine Postgres may miss its deadline; that is not what is asked here. */
  private static boolean isDatabaseLate(HttpResponse<String> response) {
    return response.statusCode() == 503
        && (response.body().contains("\"database_unavailable\"")
            || response.body().contains("\"keys_unavailable\""));
  }
}
