package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.MachineDelay;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What is revoked at one gateway is dead at all of them, two seconds later at most. */
class RevocationSpreadTest {
  private static final int ROUNDS = 2;
  private static final Duration SPREAD_MAX = Duration.ofSeconds(2);
  private static final Duration GIVE_UP = Duration.ofMinutes(1);

  /** A machine with more work than cores: the answer says nothing of the ID. */
  private static final int AGAIN = 503;

  private static final List<GatewayFixture> GATEWAYS = GatewayFixture.sharing(3);

  @BeforeAll
  static void start() {
    GATEWAYS
        .getFirst()
        .client()
        .put(
            TestType.of("charge", "ch")
                .redirect("https://shop.example/{id}")
                .with("legacy", Map.of()));
  }

  @AfterAll
  static void stop() {
    GATEWAYS.forEach(GatewayFixture::close);
  }

  @Test
  void aRevokedIdIsDeadEverywhereWithinTwoSecondsUnderLoad() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      TestClient at = GATEWAYS.get(round % GATEWAYS.size()).client();
      String id = at.mint("charge").text("/id");
      boolean link = round % 2 == 0;
      spread(
          gateway -> {
            TestClient client = gateway.client().once();
            return link
                ? client.anonymous().get("/r/" + id).status()
                : client.get("/v1/ids/" + id).status();
          },
          link ? 302 : 200,
          () -> at.post("/v1/ids/" + id + "/revoke", "{}"),
          410);
    }
  }

  @Test
  void aMergedIdLeadsToItsSurvivorEverywhereWithinTwoSeconds() throws Exception {
    TestClient at = GATEWAYS.getFirst().client();
    String id = at.mint("charge").text("/id");
    String survivor = at.mint("charge").text("/id");
    spread(
        gateway -> {
          TestClient.Reply reply = gateway.client().once().anonymous().get("/r/" + id);
          return reply.status() == AGAIN ? AGAIN : reply.header("Location").endsWith(id) ? 1 : 2;
        },
        1,
        () -> at.post("/v1/ids/" + id + "/merge", json("into", survivor)),
        2);
    // Cached as merged everywhere, it ends together with its survivor.
    spread(
        gateway -> gateway.client().once().anonymous().get("/r/" + id).status(),
        302,
        () -> at.post("/v1/ids/" + survivor + "/revoke", "{}"),
        410);
  }

  /** An alias that is found is cached, at the gateway that removes it as well. */
  @Test
  void aRemovedAliasHasNoTargetAnywhereTwoSecondsLater() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      TestClient at = GATEWAYS.get(round % GATEWAYS.size()).client();
      String legacy = Integer.toString(4711 + round);
      String id = at.mint("charge", "legacy_id", legacy).text("/id");
      boolean link = round % 2 == 0;
      spread(
          gateway -> {
            TestClient client = gateway.client().once();
            return link
                ? client.anonymous().get("/legacy/charge/" + legacy).status()
                : client.get("/v1/types/charge/aliases/legacy/" + legacy).status();
          },
          link ? 308 : 200,
          () -> at.delete("/v1/ids/" + id + "/aliases/legacy/" + legacy),
          404);
      assertThat(at.get("/v1/ids/" + id).status()).isEqualTo(200);
    }
  }

  @Test
  void aRetiredTypeMintsNowhereTwoSecondsLater() throws Exception {
    TestClient at = GATEWAYS.getFirst().client();
    TestType coupon = TestType.of("coupon", "cpn");
    at.put(coupon);
    spread(
        gateway -> gateway.client().once().mint("coupon").status(),
        201,
        () -> at.put(coupon.with("retired", true)),
        409);
  }

  @Test
  void aRevokedApiKeyIsDeadEverywhereWithinTwoSecondsUnderLoad() throws Exception {
    for (int round = 0; round < ROUNDS / 2; round++) {
      GatewayFixture at = GATEWAYS.get(round % GATEWAYS.size());
      String key = at.keyWith(Scope.ALL);
      spread(
          gateway -> new TestClient(gateway.uri(), key).once().get("/v1/types").status(),
          200,
          () -> at.revokeKey(key),
          401);
    }
  }

  @Test
  void anApiKeyThatIsRotatedOutOrExpiresIsDeadEverywhereWithinTwoSeconds() throws Exception {
    spreadOfKey(one -> atOne().post(one + "/rotate", json("overlap_seconds", 0)), 401);
    spreadOfKey(
        one -> atOne().patch(one, json("expires_at", Instant.now().plusMillis(200).toString())),
        401);
  }

  @Test
  void anApiKeyIsRefusedEverywhereTwoSecondsAfterItsRangesChanged() throws Exception {
    spreadOfKey(one -> atOne().patch(one, json("ranges", List.of("203.0.113.0/24"))), 403);
  }

  private static TestClient atOne() {
    return GATEWAYS.getFirst().client();
  }

  private static void spreadOfKey(Consumer<String> end, int dead) throws Exception {
    TestClient.Reply key =
        atOne().post("/v1/access/keys", json("name", "short", "scopes", List.of("types:read")));
    spread(
        gateway ->
            new TestClient(gateway.uri(), key.text("/secret")).once().get("/v1/types").status(),
        200,
        () -> end.accept("/v1/access/keys/" + key.text("/id")),
        dead);
  }

  @Test
  void aChangedTypeIsKnownEverywhereSoon() throws Exception {
    TestClient at = GATEWAYS.getFirst().client();
    at.put(type(true));
    String id = at.mint("open").text("/id");
    spread(
        gateway -> gateway.client().once().anonymous().get("/r/" + id).status(),
        302,
        () -> at.putConfirmed(type(false)),
        404);
  }

  private static TestType type(boolean open) {
    return TestType.of("open", "op")
        .with("redirect", Map.of("template", "https://shop.example/", "public", open));
  }

  /** Asks all gateways without a pause, before, during and after; what is dead stays dead. */
  private static void spread(ToIntFunction<GatewayFixture> ask, int alive, Runnable end, int dead)
      throws Exception {
    CountDownLatch allAlive = new CountDownLatch(GATEWAYS.size());
    AtomicLong endedNano = new AtomicLong(Long.MAX_VALUE);
    AtomicBoolean over = new AtomicBoolean();
    List<Future<Long>> lastAlive = new ArrayList<>();
    try (MachineDelay delay = MachineDelay.measure();
        ExecutorService threads = Executors.newFixedThreadPool(GATEWAYS.size())) {
      for (GatewayFixture gateway : GATEWAYS) {
        lastAlive.add(
            threads.submit(
                () -> {
                  long last = System.nanoTime();
                  boolean seenAlive = false;
                  int deadInARow = 0;
                  while (deadInARow < 20 && !over.get()) {
                    long asked = System.nanoTime();
                    int status = ask.applyAsInt(gateway);
                    assertThat(status).isIn(alive, dead, AGAIN);
                    if (status == alive) {
                      if (!seenAlive) {
                        allAlive.countDown();
                      }
                      seenAlive = true;
                      last = asked;
                      deadInARow = 0;
                    } else if (status == dead) {
                      deadInARow++;
                    }
                    over.compareAndSet(
                        false,
                        endedNano.get() != Long.MAX_VALUE
                            && asked - endedNano.get() > GIVE_UP.toNanos());
                  }
                  return last;
                }));
      }
      try {
        assertThat(allAlive.await(60, TimeUnit.SECONDS)).isTrue();
        end.run();
        endedNano.set(System.nanoTime());
        for (Future<Long> last : lastAlive) {
          delay.requireWithin(SPREAD_MAX, Duration.ofNanos(last.get() - endedNano.get()));
        }
      } finally {
        over.set(true); // the pool waits for its threads
      }
    }
  }
}
