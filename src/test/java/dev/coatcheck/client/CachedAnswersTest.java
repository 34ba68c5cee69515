package dev.coatcheck.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.client.Resolution.Found;
import dev.coatcheck.client.Resolution.Revoked;
import dev.coatcheck.id.Key;
import dev.coatcheck.id.PublicId;
import dev.coatcheck.id.PublicIdType;
import dev.coatcheck.ids.registry.TestType;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A client with a cache, on a gateway whose public IDs others end. */
@Timeout(300)
class CachedAnswersTest {
  /** Two seconds, and what a busy machine needs to ask. */
  private static final Duration DEAD = Duration.ofSeconds(2);

  @RegisterExtension
  static final GatewayFixture GATEWAY =
      GatewayFixture.withOldTypes(TestType.of("charge", "ch"), TestType.of("user", "usr"));

  private static final TestClient API = GATEWAY.client();
  private static final AtomicInteger CALLS = new AtomicInteger();
  private static CoatcheckClient client;

  @PublicIdType(prefix = "ch")
  static final class Charge {}

  @PublicIdType(prefix = "usr", name = "user")
  static final class User {}

  @BeforeAll
  static void open() {
    client = client(GATEWAY.uri(), GATEWAY.key(), CALLS);
    awaitTrust(client);
  }

  @AfterAll
  static void close() {
    client.close();
  }

  private static CoatcheckClient client(URI gateway, String key, AtomicInteger calls) {
    return CoatcheckClient.builder(gateway)
        .apiKey(key)
        .cache(1_000)
        .listener((operation, status, tries, took) -> calls.incrementAndGet())
        .build();
  }

  private static void awaitTrust(CoatcheckClient client) {
    Awaitility.await().until(() -> client.cacheStatistics().isTrusted());
  }

  private static PublicId<Charge> minted() {
    return PublicId.of(Charge.class, API.mint("charge").text("/id"));
  }

  /** As soon as the client knows the changes of two minutes, of which the gateway knows 115 s. */
  private static <T> PublicId<T> kept(PublicId<T> id) {
    Awaitility.await().until(() -> callsOf(() -> client.resolve(id)) == 0);
    return id;
  }

  private static int callsOf(Runnable work) {
    int before = CALLS.get();
    work.run();
    return CALLS.get() - before;
  }

  private static boolean isFound(CoatcheckClient of, PublicId<Charge> id) {
    return of.resolve(id) instanceof Found;
  }

  @Test
  void whatIsInUseIsAskedForOnce() {
    PublicId<Charge> id = kept(minted());
    Key<Charge> key = client.resolve(id).key().orElseThrow();

    assertThat(callsOf(() -> client.resolveAll(List.of(id, id)))).isZero();
    assertThat(callsOf(() -> client.lookup(key))).isLessThanOrEqualTo(2); // and the type's name
    assertThat(callsOf(() -> client.lookupAll(List.of(key)))).isZero();
    assertThat(callsOf(() -> client.collector().lookup(key).get())).isZero();
    PublicId<Charge> other = minted();
    assertThat(callsOf(() -> client.resolveAll(List.of(id, other)))).isOne();
    assertThat(client.resolveAll(List.of(other, id)))
        .extracting(found -> found.current().orElseThrow())
        .containsExactly(other, id);
  }

  @Test
  void whatOthersRevokeIsDeadWithinTwoSeconds() {
    PublicId<Charge> id = kept(minted());
    Key<Charge> key = client.resolve(id).key().orElseThrow();
    client.lookup(key);

    API.post("/v1/ids/" + id + "/revoke", "{}");
    long revokedNano = System.nanoTime();
    long lastAliveNano = revokedNano;
    long askedNano = revokedNano;
    while (isFound(client, id) || client.lookup(key) instanceof Found) {
      lastAliveNano = askedNano; // when it was asked: the machine may be slow to answer
      askedNano = System.nanoTime();
    }

    assertThat(Duration.ofNanos(lastAliveNano - revokedNano)).isLessThan(DEAD);
    assertThat(client.resolve(id)).isInstanceOf(Revoked.class);
  }

  /** The call for the rest of a list may take as long as the deadline of the client. */
  @Test
  void whatEndsWhileTheRestOfAListIsAskedForIsNotServedWithIt() {
    PublicId<Charge> id = minted();
    PublicId<Charge> next = minted();
    PublicId<Charge> other = minted();
    Transport transport =
        new Transport(
            GATEWAY.uri(),
            GATEWAY::key,
            Transport.client(GATEWAY.uri(), Duration.ofSeconds(10), null),
            Duration.ofSeconds(10),
            3,
            (operation, status, tries, took) -> {});
    FollowedChanges changes = new FollowedChanges(transport, Duration.ZERO);
    changes.start();
    try (CoatcheckClient plain =
            CoatcheckClient.builder(GATEWAY.uri()).apiKey(GATEWAY.key()).build();
        KeptAnswers kept = new KeptAnswers(changes, 100)) {
      Awaitility.await()
          .until(
              () -> {
                long before = kept.statistics().misses();
                kept.answers(List.of(id, next), plain::resolveAll);
                return kept.statistics().misses() == before;
              });
      List<List<PublicId<Charge>>> asked = new ArrayList<>();

      List<Resolution<?>> answers =
          kept.answers(
              List.of(id, next, other),
              ids -> {
                asked.add(ids);
                if (!ids.contains(id)) {
                  PublicId<Charge> ends = ids.contains(other) ? next : id;
                  API.post("/v1/ids/" + ends + "/revoke", "{}");
                  Awaitility.await()
                      .until(() -> !changes.vouchFor(System.nanoTime(), ends.toString(), "ch"));
                }
                return plain.resolveAll(ids);
              });

      assertThat(asked).containsExactly(List.of(other), List.of(next), List.of(id));
      assertThat(answers)
          .satisfiesExactly(
              first -> assertThat(first).isInstanceOf(Revoked.class),
              second -> assertThat(second).isInstanceOf(Revoked.class),
              third -> assertThat(third).isInstanceOf(Found.class));
    }
  }

  @Test
  void whatThisClientEndsIsDeadAtOnce() {
    PublicId<Charge> id = kept(minted());
    client.revoke(id, "test");
    assertThat(client.resolve(id)).isInstanceOf(Revoked.class);

    PublicId<Charge> merged = kept(minted());
    PublicId<Charge> survivor = minted();
    client.merge(merged, survivor);
    assertThat(client.resolve(merged)).isInstanceOf(Resolution.Merged.class);
  }

  @Test
  void aChangeOfTheTypeDropsItsAnswers() {
    PublicId<User> id = kept(PublicId.of(User.class, API.mint("user").text("/id")));
    API.put(TestType.of("user", "usr").redirect("https://shop.example/{id}"));
    Awaitility.await().until(() -> callsOf(() -> client.resolve(id)) == 1);
    assertThat(callsOf(() -> client.resolve(id))).as("for two minutes").isOne();
  }

  /** The stream breaks off with the gateway. */
  @Test
  void withoutAGatewayNothingIsServedThatNobodyVouchesFor() {
    AtomicInteger calls = new AtomicInteger();
    GatewayFixture own = GatewayFixture.on(GATEWAY.database);
    try (CoatcheckClient of = client(own.uri(), own.key(), calls)) {
      awaitTrust(of);
      own.close();
      Awaitility.await().until(() -> !of.cacheStatistics().isTrusted());
    }
  }
}
