package dev.coatcheck;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.awaitility.Awaitility;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Clients of one release and another one on one database. What one of them mints, the other one
 * resolves at once; what one of them revokes, the other one soon refuses. Each answer is the one
 * expected. The answers of a release are not held against the contract of another one.
 */
final class UpgradeLoad {
  private static final int CLIENTS = 4;
  private static final int BATCH = 50;
  private static final int SAMPLE = 1_000;
  private static final int ATTEMPTS_MAX = 40;
  private static final JsonMapper JSON = new JsonMapper();
  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final String apiKey;
  private final AtomicLong keys = new AtomicLong();
  private final Map<String, String> keysByActiveId = new ConcurrentHashMap<>();
  private final Set<String> revoked = ConcurrentHashMap.newKeySet();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  UpgradeLoad(String apiKey) {
    this.apiKey = apiKey;
  }

  /** A type that generates its keys, and one whose rows have theirs. */
  void register(URI gateway) throws IOException, InterruptedException {
    put(gateway, "charge", "{\"prefix\":\"ch\",\"key\":\"bigint\"}");
    put(gateway, "order", "{\"prefix\":\"ord\",\"key\":\"bigint\",\"generate\":\"none\"}");
  }

  private void put(URI gateway, String type, String definition)
      throws IOException, InterruptedException {
    assertThat(send(gateway, "PUT", "/v1/types/" + type, definition).statusCode()).isEqualTo(201);
  }

  /** Sends requests to the gateways for a time. */
  void run(List<URI> gateways, Duration time) throws Exception {
    runWhile(
        gateways,
        () -> {
          Thread.sleep(time);
          return time;
        });
  }

  /** Sends requests to the gateways while something else happens. */
  <T> T runWhile(List<URI> gateways, Callable<T> other) throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      clients.add(Thread.ofPlatform().start(() -> client(gateways, over)));
    }
    T result;
    try {
      result = other.call();
    } finally {
      over.set(true);
      for (Thread client : clients) {
        client.join();
      }
    }
    if (failure.get() != null) {
      throw new AssertionError("a request failed during the upgrade", failure.get());
    }
    return result;
  }

  private void client(List<URI> gateways, AtomicBoolean over) {
    try {
      while (!over.get() && failure.get() == null) {
        URI here = any(gateways);
        URI there = any(gateways);
        switch (ThreadLocalRandom.current().nextInt(4)) {
          case 0 -> own(here, there);
          case 1 -> batch(here);
          case 2 -> revoke(here, there);
          default -> generated(here, there);
        }
      }
    } catch (Exception | AssertionError failed) {
      failure.compareAndSet(null, failed);
    }
  }

  private static URI any(List<URI> gateways) {
    return gateways.get(ThreadLocalRandom.current().nextInt(gateways.size()));
  }

  private void own(URI here, URI there) throws IOException, InterruptedException {
    String key = Long.toString(keys.incrementAndGet());
    String mint = "{\"type\":\"order\",\"key\":\"" + key + "\"}";
    String id = text(answered(201, send(here, "POST", "/v1/ids", mint)), "id");
    // The same again, at any of them, is the same public ID.
    assertThat(text(answered(200, send(there, "POST", "/v1/ids", mint)), "id")).isEqualTo(id);
    assertResolves(there, id, key);
    keysByActiveId.put(id, key);
  }

  private void generated(URI here, URI there) throws IOException, InterruptedException {
    JsonNode minted = answered(201, send(here, "POST", "/v1/ids", "{\"type\":\"charge\"}"));
    assertResolves(there, text(minted, "id"), text(minted, "key"));
    assertThat(keysByActiveId.put(text(minted, "id"), text(minted, "key"))).isNull();
  }

  private void batch(URI here) throws IOException, InterruptedException {
    List<Map<String, String>> items =
        LongStream.range(0, BATCH)
            .mapToObj(_ -> Map.of("type", "order", "key", Long.toString(keys.incrementAndGet())))
            .toList();
    String body = JSON.writeValueAsString(Map.of("items", items));
    JsonNode minted = answered(200, send(here, "POST", "/v1/ids/batch", body)).path("data");
    assertThat(minted).hasSize(BATCH);
    for (JsonNode item : minted) {
      JsonNode publicId = item.path("public_id");
      keysByActiveId.put(text(publicId, "id"), text(publicId, "key"));
    }
  }

  private void revoke(URI here, URI there) throws IOException, InterruptedException {
    JsonNode minted = answered(201, send(here, "POST", "/v1/ids", "{\"type\":\"charge\"}"));
    String id = text(minted, "id");
    assertResolves(there, id, text(minted, "key"));
    answered(200, send(here, "POST", "/v1/ids/" + id + "/revoke", "{}"));
    revoked.add(id);
    Awaitility.await().until(() -> send(there, "GET", "/v1/ids/" + id, "").statusCode() == 410);
  }

  private void assertResolves(URI gateway, String id, String key)
      throws IOException, InterruptedException {
    assertThat(text(answered(200, send(gateway, "GET", "/v1/ids/" + id, "")), "key"))
        .isEqualTo(key);
  }

  /** Everything acknowledged is there, and everything that is there was acknowledged. */
  void assertNothingLost(URI gateway) throws IOException, InterruptedException {
    assertThat(keysByActiveId).hasSizeGreaterThan(BATCH);
    assertThat(revoked).isNotEmpty();
    Map<String, String> active = new HashMap<>();
    Set<String> ended = new HashSet<>();
    for (String type : List.of("charge", "order")) {
      String exported =
          send(gateway, "GET", "/v1/exports?format=ndjson&include_ended=true&type=" + type, "")
              .body();
      for (String line : exported.lines().toList()) {
        JsonNode row = JSON.readTree(line);
        if (text(row, "status").equals("active")) {
          assertThat(active.put(text(row, "public_id"), text(row, "key"))).isNull();
        } else {
          assertThat(text(row, "status")).isEqualTo("revoked");
          assertThat(ended.add(text(row, "public_id"))).isTrue();
        }
      }
    }
    assertThat(active.equals(keysByActiveId)).as("the mappings are those acknowledged").isTrue();
    assertThat(ended).isEqualTo(revoked);
    for (Map.Entry<String, String> mapping :
        keysByActiveId.entrySet().stream().limit(SAMPLE).toList()) {
      assertResolves(gateway, mapping.getKey(), mapping.getValue());
    }
  }

  private static JsonNode answered(int status, HttpResponse<String> answer) {
    assertThat(answer.statusCode())
        .as("%s: %s", answer.request().uri(), answer.body())
        .isEqualTo(status);
    return JSON.readTree(answer.body());
  }

  private static String text(JsonNode node, String field) {
    return node.path(field).stringValue();
  }

  /** Sent again where the answer says so, which a busy machine makes it do. */
  private HttpResponse<String> send(URI gateway, String method, String path, String body)
      throws IOException, InterruptedException {
    HttpRequest.Builder builder =
        HttpRequest.newBuilder(gateway.resolve(path))
            .timeout(Duration.ofMinutes(1))
            .header("Authorization", "Bearer " + apiKey)
            .header("Content-Type", "application/json")
            .method(
                method,
                body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body, UTF_8));
    if (method.equals("POST")) {
      // What is sent again is done once.
      builder.header("Idempotency-Key", UUID.randomUUID().toString());
    }
    HttpRequest request = builder.build();
    for (int attempt = 1; ; attempt++) {
      HttpResponse<String> answer = HTTP.send(request, BodyHandlers.ofString());
      boolean again =
          (answer.statusCode() == 503 || answer.statusCode() == 409)
              && answer.headers().firstValue("Retry-After").isPresent();
      if (!again || attempt == ATTEMPTS_MAX) {
        return answer;
      }
      Thread.sleep(250);
    }
  }

  @Override
  public String toString() {
    return keysByActiveId.size() + " minted and active, " + revoked.size() + " revoked";
  }
}
