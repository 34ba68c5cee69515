package dev.coatcheck.app.boot;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.app.boot.MintLoad.Acknowledged;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import dev.coatcheck.postgres.embedded.TestHome;
import dev.coatcheck.postgres.sql.TestSql;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** What the end of a gateway, rude or polite, does to what it said and to what it was asked. */
class GatewayCrashTest {
  private static final int ITEMS_MAX = 1_000;
  private static final int STEP = 100;

  private static final TestHome HOME = TestHome.fresh();
  private static final AtomicLong SUPPLIED_KEYS = new AtomicLong();

  /** What the last test left, so that not each one has to start a Postgres. */
  private static @Nullable GatewayChild running;

  @AfterAll
  static void delete() {
    if (running != null) {
      running.close();
    }
    HOME.close();
  }

  /** Promise 5. */
  @Test
  void everyAcknowledgedMintSurvivesTheKillOfTheGateway() throws Exception {
    killGateways(1, 60);
  }

  /** In every other round its Postgres is killed with it. */
  @Test
  @Tag("faults")
  void soDoesEachOfSeveralKillsInARow() throws Exception {
    killGateways(4, 300);
  }

  /** So that what watches over it starts both again; Postgres then repairs itself. */
  @Test
  @Tag("faults")
  void aGatewayEndsWithItsEmbeddedPostgres() throws Exception {
    GatewayChild gateway = serve();

    killPostgres();

    assertThat(gateway.endStatus()).isEqualTo(1);
    assertThat(calls(serve()).get("/health/ready").status()).isEqualTo(200);
  }

  private static void killGateways(int rounds, int callsMax) throws Exception {
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("GatewayCrashTest: -Dseed=" + seed);
    Random random = new Random(seed);
    List<Acknowledged> acknowledged = new ArrayList<>();
    List<String> attempted = new ArrayList<>();
    List<Long> numbers = new ArrayList<>();
    for (int round = 0; round < rounds; round++) {
      GatewayChild gateway = serve();
      putTypes(calls(gateway));
      MintLoad load =
          new MintLoad(calls(gateway), random, SUPPLIED_KEYS, 1 + random.nextInt(callsMax));
      load.await();
      if (round % 2 == 1) {
        killPostgres();
      }
      gateway.kill();
      acknowledged.addAll(load.end());
      attempted.addAll(load.attempted());
      numbers.addAll(load.numbers());
      System.out.println("GatewayCrashTest: " + acknowledged.size() + " acknowledged");
    }
    GatewayChild gateway = serve();
    assertAllThere(calls(gateway), acknowledged, seed);
    assertSettledBySendingAgain(calls(gateway), attempted, seed);
    requireSegmentIntact(calls(gateway), numbers, rounds, seed);
  }

  /** Promise 21b: a gateway that is killed loses two steps, and the draws without an answer. */
  private static void requireSegmentIntact(
      TestClient api, List<Long> numbers, int kills, long seed) {
    long granted = api.get("/v1/segments").body().at("/data/0/granted").asLong();
    long first = numbers.isEmpty() ? granted : Collections.min(numbers);
    assertThat(granted - first - numbers.size())
        .as("granted and not acknowledged, seed %d", seed)
        .isLessThanOrEqualTo(kills * (2L * STEP + MintLoad.CLIENTS * MintLoad.BATCH_MAX));
    numbers.addAll(MintLoad.draw(api, MintLoad.BATCH_MAX));
    assertThat(numbers).as("seed %d", seed).doesNotHaveDuplicates();
  }

  /** Promise 7: a mapping without its alias or its answer would be 200 here, or 409. */
  private static void assertSettledBySendingAgain(TestClient api, List<String> attempted, long seed)
      throws Exception {
    assertThat(attempted).as("seed %d", seed).isNotEmpty();
    for (String key : attempted) {
      Reply settled = MintLoad.mintOnce(api, key);
      assertThat(settled.status()).as("key %s, seed %d", key, seed).isEqualTo(201);
      assertThat(MintLoad.mintOnce(api, key).body())
          .as("key %s, seed %d", key, seed)
          .hasToString(settled.body().toString());
    }
  }

  /** Promise 15, for a request that is half sent when SIGTERM comes. */
  @Test
  @Tag("faults")
  void anAcceptedRequestIsAnsweredAfterSigterm() throws Exception {
    GatewayChild gateway = serve();
    putTypes(calls(gateway));
    URI uri = gateway.uri();
    try (Socket socket = new Socket(uri.getHost(), uri.getPort())) {
      socket.setSoTimeout(20_000);
      String body = "{\"type\":\"charge\",\"key\":\"4711000000\"}";
      acceptWithoutBody(socket, key(), body.length());

      gateway.requestStop();
      await("no new connections").until(() -> !accepts(uri));
      socket.getOutputStream().write(body.getBytes(StandardCharsets.US_ASCII));

      assertThat(readAll(socket.getInputStream())).startsWith("HTTP/1.1 201 ");
    }
    assertThat(gateway.terminate()).isEqualTo(128 + 15);
    try (EmbeddedDatabase database = EmbeddedDatabase.start(HOME.path())) {
      assertThat(
              TestSql.on(database)
                  .number("select count(*) from coatcheck.public_id where key = 4711000000"))
          .isEqualTo(1);
    }
  }

  /** From its first program on, Postgres ends with the gateway: so does what a start has begun. */
  @Test
  @Tag("faults")
  void aStartThatIsToldToEndLeavesNoPostgresBehind() throws Exception {
    for (int round = 0; round < 6; round++) {
      try (TestHome home = TestHome.fresh()) {
        Process gateway = GatewayChild.start("serve", "--port=0", "--home=" + home);
        await().until(() -> Files.exists(home.path().resolve("data/postmaster.pid")));
        Thread.sleep(round * 200L);
        gateway.destroy();

        assertThat(gateway.waitFor()).isEqualTo(128 + 15);
        assertThat(ProcessHandle.allProcesses())
            .as("round %s", round)
            .noneMatch(
                process ->
                    process.info().commandLine().orElse("").contains(home.path().toString()));
      }
    }
  }

  /** Each ID resolves to its key, each key looks up to its ID, and nothing was given out twice. */
  private static void assertAllThere(TestClient api, List<Acknowledged> acknowledged, long seed)
      throws Exception {
    assertThat(acknowledged).as("seed %d", seed).isNotEmpty().doesNotHaveDuplicates();
    assertThat(acknowledged.stream().map(Acknowledged::id))
        .as("seed %d", seed)
        .doesNotHaveDuplicates();
    Map<String, List<Acknowledged>> ofType = new HashMap<>();
    for (Acknowledged one : acknowledged) {
      ofType.computeIfAbsent(one.type(), _ -> new ArrayList<>()).add(one);
    }
    for (var entry : ofType.entrySet()) {
      List<Acknowledged> all = entry.getValue();
      for (int from = 0; from < all.size(); from += ITEMS_MAX) {
        List<Acknowledged> some = all.subList(from, Math.min(from + ITEMS_MAX, all.size()));
        List<String> ids = some.stream().map(Acknowledged::id).toList();
        List<String> keys = some.stream().map(Acknowledged::key).toList();
        JsonNode resolved = api.post("/v1/ids/resolve", json("ids", ids)).body();
        assertThat(missing(some, resolved)).as("not resolved, seed %d", seed).isEmpty();
        JsonNode found =
            api.post("/v1/ids/lookup", json("type", entry.getKey(), "keys", keys)).body();
        assertThat(missing(some, found)).as("not looked up, seed %d", seed).isEmpty();
      }
    }
  }

  private static List<Acknowledged> missing(List<Acknowledged> expected, JsonNode answer) {
    Set<Acknowledged> answered = new HashSet<>();
    answer.path("data").forEach(item -> answered.add(Acknowledged.of(item.path("public_id"))));
    return expected.stream().filter(one -> !answered.contains(one)).toList();
  }

  private static void putTypes(TestClient api) {
    api.put(TestType.of("charge", "ch"));
    api.put(TestType.of("message", "msg"));
    api.put(TestType.of("user", "usr").uuids());
    api.put("/v1/segments/invoice", json("step_min", STEP, "step_max", STEP));
  }

  /**
   * Sends a request up to its body. 100 Continue comes from the handler, as it asks for the body.
   */
  private static void acceptWithoutBody(Socket socket, String key, int length) throws IOException {
    OutputStream out = socket.getOutputStream();
    out.write(
        ("POST /v1/ids HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                + key
                + "\r\nContent-Type: application/json\r\nContent-Length: "
                + length
                + "\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n")
            .getBytes(StandardCharsets.US_ASCII));
    String expected = "HTTP/1.1 100 Continue\r\n\r\n";
    byte[] interim = socket.getInputStream().readNBytes(expected.length());
    assertThat(new String(interim, StandardCharsets.US_ASCII)).isEqualTo(expected);
  }

  private static String readAll(InputStream in) throws IOException {
    return new String(in.readAllBytes(), StandardCharsets.UTF_8);
  }

  private static boolean accepts(URI uri) {
    try {
      new Socket(uri.getHost(), uri.getPort()).close();
      return true;
    } catch (IOException refused) {
      return false;
    }
  }

  private static void killPostgres() throws IOException {
    String pid = Files.readAllLines(HOME.path().resolve("data/postmaster.pid")).getFirst();
    ProcessHandle.of(Long.parseLong(pid.strip())).ifPresent(ProcessHandle::destroyForcibly);
  }

  /** On the home of all tests: the one that runs, or a new one. */
  private static GatewayChild serve() throws IOException {
    GatewayChild last = running;
    if (last != null && last.isAlive()) {
      return last;
    }
    GatewayChild next = GatewayChild.serve(HOME.path());
    running = next;
    return next;
  }

  private static TestClient calls(GatewayChild gateway) throws IOException {
    return new TestClient(gateway.uri(), key());
  }

  private static String key() throws IOException {
    return Files.readString(HOME.path().resolve("dev-key")).strip();
  }
}
