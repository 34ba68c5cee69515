package dev.coatcheck.app.boot;

import static dev.coatcheck.api.routes.TestClient.json;

import dev.coatcheck.app.boot.KeptConnection.Answer;
import dev.coatcheck.app.boot.KeptConnection.Unanswered;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * So many requests a second to one port, whatever becomes of those before: one of twenty mints with
 * an Idempotency-Key, three look a key up, the others resolve. Each answer is compared with what is
 * known. A request whose reused connection ends before a byte of its answer is sent again, once, on
 * a new one, and counted.
 */
final class SteadyLoad implements AutoCloseable {
  private static final int OF = 20;
  private static final int LOOKUPS_OF = 3;

  /** Of mints that are resolved. */
  private static final int KNOWN_MAX = 2_000;

  private static final int MILLIS_MAX = 60_000;

  /** A request that was not answered as it should be. */
  record Failed(String request, String why, long sentNano, long endedNano) {}

  private final int port;
  private final String head;
  private final String mintHead;
  private final long periodNanos;

  /** Tells the Idempotency-Keys of one load from those of another. */
  private final long startNano = System.nanoTime();

  private final ExecutorService requests = Executors.newVirtualThreadPerTaskExecutor();
  private final Deque<KeptConnection> idle = new ConcurrentLinkedDeque<>();
  private final List<String> known = new ArrayList<>();
  private final Map<String, String> idsByKey = new ConcurrentHashMap<>();
  private final Map<String, String> keysById = new ConcurrentHashMap<>();
  private final Queue<Failed> failures = new ConcurrentLinkedQueue<>();
  private final Queue<String> unsettled = new ConcurrentLinkedQueue<>();
  private final AtomicInteger underWay = new AtomicInteger();
  private final AtomicInteger sentAgain = new AtomicInteger();
  private final AtomicInteger sent = new AtomicInteger();
  private final AtomicLong mints = new AtomicLong();
  private final AtomicIntegerArray answeredByMillis = new AtomicIntegerArray(MILLIS_MAX + 1);
  private final AtomicIntegerArray lateByMillis = new AtomicIntegerArray(MILLIS_MAX + 1);
  private final Thread clock;
  private volatile boolean over;

  /** Starts, with a first public ID that is resolved until others are minted. */
  SteadyLoad(int port, String apiKey, int perSecond, String id, String key) {
    this.port = port;
    this.head = " HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer " + apiKey + "\r\n";
    this.mintHead = "POST /v1/ids" + head + "Content-Type: application/json\r\n";
    this.periodNanos = 1_000_000_000L / perSecond;
    remember(id, key);
    this.clock = Thread.ofPlatform().name("steady-load").start(this::run);
  }

  private void run() {
    long dueNano = System.nanoTime();
    while (!over) {
      long wait = dueNano - System.nanoTime();
      if (wait > 0) {
        LockSupport.parkNanos(Math.max(wait, 1_000_000));
        continue;
      }
      long due = dueNano;
      underWay.incrementAndGet();
      sent.incrementAndGet();
      requests.execute(() -> request(due));
      dueNano += periodNanos;
    }
  }

  private void request(long dueNano) {
    long sentNano = System.nanoTime();
    count(lateByMillis, sentNano - dueNano);
    ThreadLocalRandom random = ThreadLocalRandom.current();
    int what = random.nextInt(OF);
    try {
      if (what == 0) {
        mint(sentNano);
      } else {
        String id = any(random);
        String key = keysById.get(id);
        if (what <= LOOKUPS_OF) {
          get("/v1/types/charge/keys/" + key, "\"id\":\"" + id + "\"", sentNano);
        } else {
          get("/v1/ids/" + id, "\"key\":\"" + key + "\"", sentNano);
        }
      }
    } finally {
      count(answeredByMillis, System.nanoTime() - dueNano);
      underWay.decrementAndGet();
    }
  }

  private static void count(AtomicIntegerArray byMillis, long nanos) {
    byMillis.incrementAndGet(Math.clamp(nanos / 1_000_000, 0, MILLIS_MAX));
  }

  private void get(String target, String expected, long sentNano) {
    try {
      Answer answer = send("GET " + target + head + "\r\n");
      if (answer.status() != 200 || !answer.body().contains(expected)) {
        fail(target, answer.toString(), sentNano);
      }
    } catch (IOException failed) {
      fail(target, failed.toString(), sentNano);
    }
  }

  private void mint(long sentNano) {
    String idempotencyKey = "steady-" + startNano + "-" + mints.incrementAndGet();
    try {
      Answer answer = send(mintRequest(idempotencyKey));
      if (answer.status() == 201) {
        acknowledge(answer, sentNano);
        return;
      }
      fail("mint", answer.toString(), sentNano);
    } catch (IOException failed) {
      fail("mint", failed.toString(), sentNano);
    }
    unsettled.add(idempotencyKey);
  }

  private String mintRequest(String idempotencyKey) {
    String body = json("type", "charge");
    return mintHead
        + "Idempotency-Key: "
        + idempotencyKey
        + "\r\nContent-Length: "
        + body.length()
        + "\r\n\r\n"
        + body;
  }

  private void acknowledge(Answer answer, long sentNano) {
    String id = field(answer.body(), "id");
    String key = field(answer.body(), "key");
    if (idsByKey.putIfAbsent(key, id) != null || keysById.putIfAbsent(id, key) != null) {
      fail("mint", "a second time: " + answer, sentNano);
    }
    remember(id, key);
  }

  private void remember(String id, String key) {
    idsByKey.put(key, id);
    keysById.put(id, key);
    synchronized (known) {
      if (known.size() < KNOWN_MAX) {
        known.add(id);
      }
    }
  }

  private String any(ThreadLocalRandom random) {
    synchronized (known) {
      return known.get(random.nextInt(known.size()));
    }
  }

  private static String field(String body, String name) {
    int at = body.indexOf("\"" + name + "\":\"") + name.length() + 4;
    return body.substring(at, body.indexOf('"', at));
  }

  private void fail(String request, String why, long sentNano) {
    failures.add(new Failed(request, why, sentNano, System.nanoTime()));
  }

  private Answer send(String request) throws IOException {
    byte[] bytes = request.getBytes(StandardCharsets.US_ASCII);
    KeptConnection kept = kept();
    if (kept != null) {
      try {
        return send(kept, bytes);
      } catch (Unanswered closed) {
        sentAgain.incrementAndGet();
      }
    }
    return send(new KeptConnection(port), bytes);
  }

  /** One that the server has left open, or null. */
  private @Nullable KeptConnection kept() throws IOException {
    for (KeptConnection kept = idle.pollFirst(); kept != null; kept = idle.pollFirst()) {
      if (kept.isOpen()) {
        return kept;
      }
      kept.close();
    }
    return null;
  }

  private Answer send(KeptConnection connection, byte[] request) throws IOException {
    try {
      Answer answer = connection.exchange(request);
      if (connection.isKept()) {
        idle.addFirst(connection);
      } else {
        connection.close();
      }
      return answer;
    } catch (IOException failed) {
      connection.close();
      throw failed;
    }
  }

  int underWay() {
    return underWay.get();
  }

  int sent() {
    return sent.get();
  }

  /** How often a connection ended before an answer and the request was sent again. */
  int sentAgain() {
    return sentAgain.get();
  }

  List<Failed> failures() {
    return List.copyOf(failures);
  }

  /** The acknowledged mints: public IDs and their keys. */
  Map<String, String> keysById() {
    return Map.copyOf(keysById);
  }

  /** The Idempotency-Keys of mints that failed. */
  List<String> unsettled() {
    return List.copyOf(unsettled);
  }

  /** How much later than due requests were sent, in the worst case of 99 %. */
  Duration latenessP99() {
    return p99(lateByMillis);
  }

  /** From when a request was due to its answer, in the worst case of 99 %. */
  Duration answerP99() {
    return p99(answeredByMillis);
  }

  private static Duration p99(AtomicIntegerArray byMillis) {
    int[] counts = new int[byMillis.length()];
    Arrays.setAll(counts, byMillis::get);
    long rest = Arrays.stream(counts).asLongStream().sum() / 100;
    int millis = counts.length - 1;
    for (; millis > 0 && rest >= counts[millis]; millis--) {
      rest -= counts[millis];
    }
    return Duration.ofMillis(millis + 1L);
  }

  @Override
  public String toString() {
    return "%d sent, %d failed, %d sent again, 99 %% sent within %d ms and answered within %d ms"
        .formatted(
            sent.get(),
            failures.size(),
            sentAgain.get(),
            latenessP99().toMillis(),
            answerP99().toMillis());
  }

  @Override
  public void close() {
    stop();
  }

  /** Sends no more, and waits for all answers. A second call does nothing. */
  void stop() {
    over = true;
    try {
      clock.join();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    requests.close();
    idle.forEach(
        connection -> {
          try {
            connection.close();
          } catch (IOException ended) {
            // It is closed all the same.
          }
        });
  }
}
