package dev.coatcheck.app.boot;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.api.routes.TestClient.Reply;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import tools.jackson.databind.JsonNode;

/**
 * Clients that mint until the gateway is gone, and remember what was acknowledged: keys supplied
 * and generated, of both schemes, one at a time and in batches, and numbers of a segment.
 */
final class MintLoad {
  static final int CLIENTS = 6;
  static final int BATCH_MAX = 30;

  /** A public ID that some client was told is minted. */
  record Acknowledged(String id, String type, String key) {
    static Acknowledged of(JsonNode publicId) {
      return new Acknowledged(
          publicId.path("id").asString(""),
          publicId.path("type").asString(""),
          publicId.path("key").asString(""));
    }
  }

  private final Queue<Acknowledged> acknowledged = new ConcurrentLinkedQueue<>();
  private final Queue<Long> numbers = new ConcurrentLinkedQueue<>();
  private final Queue<String> attempted = new ConcurrentLinkedQueue<>();
  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private final List<Thread> clients = new ArrayList<>();
  private final CountDownLatch until;
  private final AtomicLong suppliedKeys;
  private final TestClient client;

  /**
   * Starts the clients.
   *
   * @param suppliedKeys where the keys that the clients bring begin
   * @param callsUntil how many answers {@link #await} waits for
   */
  MintLoad(TestClient client, Random random, AtomicLong suppliedKeys, int callsUntil) {
    this.client = client.once();
    this.suppliedKeys = suppliedKeys;
    this.until = new CountDownLatch(callsUntil);
    for (int i = 0; i < CLIENTS; i++) {
      Random own = new Random(random.nextLong());
      clients.add(Thread.ofPlatform().start(() -> run(own)));
    }
  }

  /** Waits for as many answers as were asked for, and for a mint and a key among them. */
  void await() throws InterruptedException {
    if (!until.await(300, TimeUnit.SECONDS)) {
      throw new AssertionError("the clients get no answers: " + failures);
    }
    Awaitility.await()
        .atMost(Duration.ofMinutes(1))
        .until(() -> !acknowledged.isEmpty() && !attempted.isEmpty());
  }

  /** What was acknowledged, once the gateway is gone and all clients have noticed. */
  List<Acknowledged> end() throws InterruptedException {
    for (Thread client : clients) {
      client.join();
    }
    if (!failures.isEmpty()) {
      throw new AssertionError("answered, but badly", failures.peek());
    }
    return List.copyOf(acknowledged);
  }

  private void run(Random random) {
    try {
      while (true) {
        mint(random);
        until.countDown();
      }
    } catch (UncheckedIOException gone) {
      // The outcome of this last call is unknown: it is neither acknowledged nor a failure.
    } catch (AssertionError | RuntimeException failure) {
      failures.add(failure);
    }
  }

  private void mint(Random random) {
    int count = 1 + random.nextInt(BATCH_MAX);
    switch (random.nextInt(5)) {
      case 0 -> {
        String key = nextSuppliedKey();
        attempted.add(key);
        acknowledge(answered(mintOnce(client, key)));
      }
      case 1 -> acknowledge(answered(client.mint("user")));
      case 2 ->
          acknowledgeAll(
              client.post("/v1/ids/batch", json("type", "message", "count", count)), count);
      case 3 -> numbers.addAll(draw(client, count));
      default -> {
        List<Map<String, String>> items =
            IntStream.range(0, count)
                .mapToObj(_ -> Map.of("type", "charge", "key", nextSuppliedKey()))
                .toList();
        acknowledgeAll(client.post("/v1/ids/batch", json("items", items)), count);
      }
    }
  }

  /** After 503 the outcome is unknown too. */
  private static JsonNode answered(Reply reply) {
    if (reply.status() == 503) {
      throw new UncheckedIOException(new IOException(reply.toString()));
    }
    assertThat(reply.status()).as("%s", reply).isLessThan(300);
    return reply.body();
  }

  /**
   * Mints a key that brings its old number and an Idempotency-Key: all three come together, so that
   * the same again is always the same 201.
   */
  static Reply mintOnce(TestClient client, String key) {
    return client
        .with("Idempotency-Key", "once-" + key)
        .mint("charge", "key", key, "legacy_id", key);
  }

  /** Numbers of the segment. */
  static List<Long> draw(TestClient client, int count) {
    JsonNode answer =
        answered(
            client.post("/v1/keys", json("scheme", "segment", "tag", "invoice", "count", count)));
    return answer.at("/keys").valueStream().map(key -> Long.valueOf(key.stringValue())).toList();
  }

  /** The numbers of the segment that were acknowledged. */
  List<Long> numbers() {
    return List.copyOf(numbers);
  }

  /** The keys of {@link #mintOnce} that were sent, whatever became of them. */
  List<String> attempted() {
    return List.copyOf(attempted);
  }

  private String nextSuppliedKey() {
    return Long.toString(suppliedKeys.incrementAndGet());
  }

  private void acknowledgeAll(Reply reply, int count) {
    JsonNode answer = answered(reply);
    if (answer.path("data").size() != count) {
      throw new AssertionError("not " + count + " items: " + answer);
    }
    answer.path("data").forEach(item -> acknowledge(item.path("public_id")));
  }

  private void acknowledge(JsonNode publicId) {
    acknowledged.add(Acknowledged.of(publicId));
  }
}
