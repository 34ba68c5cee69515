package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Promises 7 and 8: what is sent twice is done once, at whichever of three gateways. */
class OnceEverywhereTest {
  private static final int RACERS = 100;
  private static final String MAPPINGS = "select count(*) from coatcheck.public_id";

  private static final List<GatewayFixture> GATEWAYS = GatewayFixture.sharing(3);

  @BeforeAll
  static void start() {
    GATEWAYS.getFirst().client().put(TestType.of("charge", "ch"));
  }

  @AfterAll
  static void stop() {
    GATEWAYS.forEach(GatewayFixture::close);
  }

  @Test
  void racersWithOneIdempotencyKeyGetOneAnswerByteForByte() throws Exception {
    String key = "raced";
    long before = GATEWAYS.getFirst().count(MAPPINGS);

    List<Reply> replies =
        race(gateway -> gateway.client().with("Idempotency-Key", key).mint("charge"));

    assertThat(replies).extracting(Reply::status).containsOnly(201);
    Set<JsonNode> bodies = new HashSet<>(replies.stream().map(Reply::body).toList());
    assertThat(bodies).hasSize(1);
    assertThat(replies.stream().filter(reply -> !reply.has("idempotent-replayed"))).hasSize(1);
    assertThat(GATEWAYS.getFirst().count(MAPPINGS)).isEqualTo(before + 1);
  }

  @Test
  void racersWithOneLegacyIdAndNoKeyGetOnePublicId() throws Exception {
    String mint = json("type", "charge", "legacy_id", "9000");
    long before = GATEWAYS.getFirst().count(MAPPINGS);

    List<Reply> replies = race(gateway -> gateway.client().post("/v1/ids", mint));

    assertThat(replies)
        .extracting(reply -> reply.text("/id"))
        .containsOnly(replies.getFirst().text("/id"));
    assertThat(replies.stream().filter(reply -> reply.status() == 201)).hasSize(1);
    assertThat(replies.stream().filter(reply -> reply.status() == 200)).hasSize(RACERS - 1);
    assertThat(GATEWAYS.getFirst().count(MAPPINGS)).isEqualTo(before + 1);
  }

  /** The client is gone before the answer: it asks again, and another gateway knows. */
  @Test
  void aSocketCutBetweenCommitAndAnswerIsSettledBySendingAgain() throws Exception {
    GatewayFixture at = GATEWAYS.get(0);
    long before = at.count(MAPPINGS);
    String mint = json("type", "charge");
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), at.uri().getPort())) {
      send(socket, at.key(), "cut", mint);
      Awaitility.await("the commit").until(() -> at.count(MAPPINGS) == before + 1);
      socket.setSoLinger(true, 0); // closed with a reset, the answer unread
    }

    Reply settled = GATEWAYS.get(1).client().with("Idempotency-Key", "cut").post("/v1/ids", mint);

    assertThat(settled.status()).isEqualTo(201);
    assertThat(settled.header("idempotent-replayed")).isEqualTo("true");
    assertThat(at.count(MAPPINGS)).isEqualTo(before + 1);
  }

  private static List<Reply> race(Function<GatewayFixture, Reply> call) throws Exception {
    CountDownLatch start = new CountDownLatch(1);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Reply>> racers = new ArrayList<>();
      for (int i = 0; i < RACERS; i++) {
        GatewayFixture gateway = GATEWAYS.get(i % GATEWAYS.size());
        racers.add(
            threads.submit(
                () -> {
                  start.await();
                  return call.apply(gateway);
                }));
      }
      start.countDown();
      List<Reply> replies = new ArrayList<>();
      for (Future<Reply> racer : racers) {
        replies.add(racer.get());
      }
      return replies;
    }
  }

  private static void send(Socket socket, String apiKey, String idempotencyKey, String body)
      throws IOException {
    socket
        .getOutputStream()
        .write(
            ("POST /v1/ids HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer "
                    + apiKey
                    + "\r\nIdempotency-Key: "
                    + idempotencyKey
                    + "\r\nContent-Type: application/json\r\nContent-Length: "
                    + body.length()
                    + "\r\n\r\n"
                    + body)
                .getBytes(StandardCharsets.US_ASCII));
  }
}
