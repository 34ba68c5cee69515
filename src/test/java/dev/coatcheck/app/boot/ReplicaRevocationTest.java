package dev.coatcheck.app.boot;

import static dev.coatcheck.cluster.change.ReplicaPair.served;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.MachineDelay;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.cluster.change.ReplicaPair;
import dev.coatcheck.ids.registry.TestType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * IDs are revoked at two gateways while both resolve them, from a replica whose replay stops and
 * goes on again and again.
 */
@Tag("faults")
@Tag("alone")
class ReplicaRevocationTest {
  private static final Duration SPREAD_MAX = Duration.ofSeconds(2);
  private static final Duration ROUND = Duration.ofSeconds(8);
  private static final int IDS = 200;
  private static final int READERS = 4;

  /** Of an ID that was not revoked yet. */
  private static final long ALIVE = Long.MAX_VALUE;

  private static ReplicaPair pair;

  @BeforeAll
  static void start() throws Exception {
    pair = ReplicaPair.start();
  }

  @AfterAll
  static void stop() throws Exception {
    pair.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "1000"})
  void noIdIsServedAliveTwoSecondsAfterItsEndNorByAGatewayThatKnowsOfIt(String cacheEntries)
      throws Exception {
    long seed = new Random().nextLong();
    System.out.println("seed " + seed);
    try (GatewayFixture one = pair.gateway("COATCHECK_CACHE_ENTRIES", cacheEntries);
        GatewayFixture other = pair.gateway("COATCHECK_CACHE_ENTRIES", cacheEntries)) {
      new Round(List.of(one, other), seed).run();
    }
  }

  private static final class Round {
    private final List<GatewayFixture> gateways;
    private final long seed;
    private final List<String> ids = new ArrayList<>();

    /** When the revocation of each was answered, and where it was sent to. */
    private final long[] endedNano = new long[IDS];

    private final int[] endedAt = new int[IDS];

    Round(List<GatewayFixture> gateways, long seed) {
      this.gateways = gateways;
      this.seed = seed;
    }

    void run() throws Exception {
      TestClient client = gateways.getFirst().client();
      TestClient.assertPut(client.put(TestType.of("charge", "ch")));
      for (int i = 0; i < IDS; i++) {
        ids.add(client.mint("charge").text("/id"));
        endedNano[i] = ALIVE;
      }
      pair.awaitReplay();
      AtomicBoolean isOver = new AtomicBoolean();
      List<Future<?>> threads = new ArrayList<>();
      try (MachineDelay delay = MachineDelay.measure();
          ExecutorService pool = Executors.newCachedThreadPool()) {
        for (int i = 0; i < READERS; i++) {
          Random random = new Random(seed + i);
          threads.add(
              pool.submit(
                  () -> {
                    while (!isOver.get()) {
                      read(random.nextInt(IDS), random.nextInt(gateways.size()), delay);
                    }
                  }));
        }
        threads.add(pool.submit(() -> stopAndGoOn(new Random(seed - 1), isOver)));
        try {
          revoke(new Random(seed - 2));
        } finally {
          isOver.set(true);
        }
        for (Future<?> thread : threads) {
          thread.get();
        }
      }
      long served = gateways.stream().mapToLong(each -> served(each.client())).sum();
      System.out.println("read at the replica: " + served);
      assertThat(served).isGreaterThan(0);
    }

    private void revoke(Random random) throws InterruptedException {
      long end = System.nanoTime() + ROUND.toNanos();
      for (int i = 0; i < IDS && System.nanoTime() < end; i++) {
        int at = random.nextInt(gateways.size());
        assertThat(
                gateways.get(at).client().post("/v1/ids/" + ids.get(i) + "/revoke", "{}").status())
            .isEqualTo(200);
        synchronized (this) {
          endedAt[i] = at;
          endedNano[i] = System.nanoTime();
        }
        // In bursts, so that the replica catches up between them.
        Thread.sleep(i % 5 == 0 ? 400 : 5);
      }
    }

    private void read(int i, int at, MachineDelay delay) {
      long asked = System.nanoTime();
      long ended;
      boolean isHere;
      synchronized (this) {
        ended = endedNano[i];
        isHere = endedAt[i] == at;
      }
      int status = gateways.get(at).client().once().get("/v1/ids/" + ids.get(i)).status();
      assertThat(status).isIn(200, 410, 503);
      if (status == 200 && ended != ALIVE) {
        assertThat(isHere).as("alive at the gateway that revoked it").isFalse();
        delay.requireWithin(SPREAD_MAX, Duration.ofNanos(asked - ended));
      }
    }

    private void stopAndGoOn(Random random, AtomicBoolean isOver) {
      try {
        while (!isOver.get()) {
          Thread.sleep(random.nextInt(800));
          pair.pause();
          Thread.sleep(random.nextInt(1_500));
          pair.resume();
        }
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
