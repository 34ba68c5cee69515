package dev.coatcheck.keys;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.client.FaultyProxy;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/** Keys of an application, leased through a gateway and straight from Postgres. */
class LeasedKeysTest {
  private static final long WINDOW_NANOS = 3_000_000_000L;

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.own();

  private final Queue<String> events = new ConcurrentLinkedQueue<>();

  private Snowflakes.Leased throughGateway() {
    return Snowflakes.leasedFrom(GATEWAY.uri(), GATEWAY.keyWith(Scope.KEYS_WRITE))
        .holder("shop-1")
        .onEvent(events::add);
  }

  private static PGSimpleDataSource dataSource(TestDatabase database, String user, String secret) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(database.url());
    source.setUser(user);
    source.setPassword(secret);
    source.setLoginTimeout(1);
    source.setConnectTimeout(1);
    source.setSocketTimeout(1);
    return source;
  }

  private static PGSimpleDataSource dataSource(TestDatabase database) {
    return dataSource(database, database.user(), database.password());
  }

  private static int worker(long key) {
    return SnowflakeLayout.DEFAULT.workerOf(key);
  }

  private static Instant time(long key) {
    return SnowflakeLayout.DEFAULT.timeOf(key);
  }

  /** On a busy machine the first answer may take longer than a key waits for it. */
  private static long first(Snowflakes keys) {
    return await()
        .ignoreExceptionsInstanceOf(KeysUnavailableException.class)
        .until(keys::next, key -> key > 0);
  }

  @Test
  void keysLeasedThroughAGatewayRiseAndTheWorkerIsGivenBack() {
    long worker;
    try (Snowflakes keys = throughGateway().open()) {
      long first = first(keys);
      long[] batch = keys.nextBatch(10_000);
      worker = worker(first);
      assertThat(batch).isSorted().doesNotHaveDuplicates();
      assertThat(batch[0]).isGreaterThan(first);
      assertThat(keys.next()).isGreaterThan(batch[9_999]);
      assertThat(GATEWAY.client().get("/v1/workers").body().toString()).contains("\"shop-1\"");
    }
    assertThat(
            GATEWAY.count(
                "select count(*) from coatcheck.worker_lease where expires_at <= now() and worker ="
                    + " "
                    + worker))
        .isEqualTo(1);
  }

  @Test
  void twoHoldersOfOneNameHaveTwoWorkers() {
    try (Snowflakes one = throughGateway().open();
        Snowflakes other = throughGateway().open()) {
      assertThat(worker(first(one))).isNotEqualTo(worker(first(other)));
    }
  }

  @Test
  void aLeaseIsRenewedEachSecond() {
    try (Snowflakes keys = throughGateway().open()) {
      int worker = worker(first(keys));
      String until = "select granted_until_ms from coatcheck.worker_lease where worker = " + worker;
      long before = GATEWAY.count(until);
      await().until(() -> GATEWAY.count(until) > before + 3_000);
      assertThat(worker(first(keys))).isEqualTo(worker);
    }
  }

  /** Such as behind a proxy or a network that falls silent. */
  @Test
  @Tag("faults")
  void aRenewalWhoseAnswerStopsHalfwayIsSentAgain() throws Exception {
    try (FaultyProxy proxy = new FaultyProxy(GATEWAY.uri());
        Snowflakes keys =
            Snowflakes.leasedFrom(proxy.uri(), GATEWAY.keyWith(Scope.KEYS_WRITE)).open()) {
      long before = first(keys);
      proxy.next(FaultyProxy.Fault.HALF_ANSWER);
      Instant pastTheWindow = time(before).plusNanos(2 * WINDOW_NANOS);
      await()
          .ignoreExceptionsInstanceOf(KeysUnavailableException.class)
          .until(() -> time(keys.next()).isAfter(pastTheWindow));
    }
  }

  @Test
  @Tag("faults")
  void aRotatedApiKeyKeepsTheWorker() {
    String old = GATEWAY.keyWith(Scope.KEYS_WRITE);
    AtomicReference<String> apiKey = new AtomicReference<>(old);
    try (Snowflakes keys = Snowflakes.leasedFrom(GATEWAY.uri(), apiKey::get).open()) {
      long before = first(keys);
      TestClient.Reply successor =
          new TestClient(GATEWAY.uri(), old)
              .post(
                  "/v1/access/keys/key_" + old.substring(9, 21) + "/rotate",
                  json("overlap_seconds", 0));
      apiKey.set(successor.text("/secret"));

      Instant pastTheWindow = time(before).plusNanos(2 * WINDOW_NANOS);
      await()
          .ignoreExceptionsInstanceOf(KeysUnavailableException.class)
          .until(() -> time(keys.next()).isAfter(pastTheWindow));
      assertThat(worker(first(keys))).isEqualTo(worker(before));
    }
  }

  @Test
  @Tag("faults")
  void aListenerThatThrowsDoesNotEndTheLease() {
    try (Snowflakes keys =
        throughGateway()
            .onEvent(
                event -> {
                  events.add(event);
                  throw new NoClassDefFoundError("as told: " + event);
                })
            .open()) {
      ConditionFactory patiently =
          await()
              .dontCatchUncaughtExceptions()
              .ignoreExceptionsInstanceOf(KeysUnavailableException.class);
      Instant first = time(patiently.until(keys::next, key -> key > 0));

      patiently.until(() -> time(keys.next()).isAfter(first.plusNanos(2 * WINDOW_NANOS)));
      assertThat(events).isNotEmpty();
    }
  }

  @Test
  void aGatewayThatRefusesIsTold() {
    try (Snowflakes keys = Snowflakes.leasedFrom(GATEWAY.uri(), "no key").open()) {
      // A gateway of a busy machine may not answer in time at first.
      await()
          .untilAsserted(
              () ->
                  assertThatThrownBy(keys::next)
                      .isInstanceOf(KeysUnavailableException.class)
                      .hasMessageContaining("401 unauthenticated"));
      assertThatThrownBy(() -> keys.nextBatch(2)).hasMessageContaining("ask again in");
    }
    try (Snowflakes keys =
        Snowflakes.leasedFrom(URI.create("http://127.0.0.1:1"), "no key").open()) {
      assertThatThrownBy(keys::next)
          .hasMessageContaining("does not answer")
          .extracting(Throwable::getMessage)
          .asString()
          .doesNotContain("Postgres");
    }
  }

  /** Such as one that was read with the end of its line. */
  @Test
  void anApiKeyThatNoHeaderTakesIsRefusedAndNotTold() {
    assertThatThrownBy(
            () -> {
              try (Snowflakes keys =
                  Snowflakes.leasedFrom(GATEWAY.uri(), "ccg_live_secret\n")
                      .onEvent(events::add)
                      .open()) {
                keys.next();
              }
            })
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("API key")
        .extracting(Throwable::getMessage)
        .asString()
        .doesNotContain("secret");
    assertThat(events).isEmpty();
    try (Snowflakes keys =
        Snowflakes.leasedFrom(GATEWAY.uri(), () -> "ccg_live_secret\n")
            .onEvent(events::add)
            .open()) {
      assertThatThrownBy(keys::next)
          .isInstanceOf(KeysUnavailableException.class)
          .hasMessageContaining("the API key is too long")
          .extracting(Throwable::getMessage)
          .asString()
          .doesNotContain("secret");
    }
    assertThat(events).isNotEmpty().noneMatch(event -> event.contains("secret"));
  }

  /** A failure comes several times a second, for as long as an outage lasts. */
  @Test
  void aFailureThatRepeatsIsToldOnce() {
    try (Snowflakes keys =
        Snowflakes.leasedFrom(GATEWAY.uri(), "no key").onEvent(events::add).open()) {
      assertThatThrownBy(keys::next).isInstanceOf(KeysUnavailableException.class);
      LockSupport.parkNanos(2_000_000_000L);
      List<String> told = List.copyOf(events);
      assertThat(told).last().asString().contains("401 unauthenticated");
      for (int i = 1; i < told.size(); i++) {
        assertThat(told.get(i)).isNotEqualTo(told.get(i - 1));
      }
    }
  }

  /** The rights of docs/leases.md are enough, and the first holder's window is that of all. */
  @Test
  void keysAreLeasedFromPostgresWithFewRights() {
    TestDatabase database = TestDatabase.fresh();
    String role = "keys_" + database.name();
    database
        .sql()
        .execute(
            "create role " + role + " login password 'secret'",
            "grant usage on schema coatcheck to " + role,
            "grant select, insert, update on coatcheck.worker_lease to " + role,
            "grant select, insert on coatcheck.lease_window to " + role,
            "grant select on coatcheck.worker_lease_origin to " + role);
    try (Snowflakes keys =
        Snowflakes.leasedFrom(dataSource(database, role, "secret")).workers(3, 4).open()) {
      Set<Long> all = new HashSet<>();
      for (int i = 0; i < 1_000; i++) {
        long key = first(keys);
        assertThat(worker(key)).isBetween(3, 4);
        assertThat(all.add(key)).isTrue();
      }
      try (Snowflakes other =
          Snowflakes.leasedFrom(dataSource(database)).window(Duration.ofSeconds(20)).open()) {
        assertThatThrownBy(other::next)
            .isInstanceOf(KeysUnavailableException.class)
            .hasMessageContaining(
                "one window, which is 3000 ms in this database and 20000 ms here");
      }
    }
  }

  @Test
  void settingsOfAGatewayAreRefusedThere() {
    assertThatThrownBy(() -> throughGateway().workers(0, 1))
        .hasMessageContaining("setting of the gateway");
    assertThatThrownBy(() -> throughGateway().holder("two words"))
        .hasMessageContaining("visible ASCII");
  }

  /** Neither stands for all workers, or for the window of the database. */
  @Test
  void noWorkersAndNoWindowAreRefused() {
    DataSource none = new PGSimpleDataSource();

    assertThatThrownBy(() -> Snowflakes.leasedFrom(none).workers(3, -1).open())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("3..-1");
    assertThatThrownBy(() -> Snowflakes.leasedFrom(none).window(Duration.ZERO).open())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("PT0S");
  }

  @Test
  void inAnOutageKeysLastToTheWindowsEndAndThenTheErrorSaysWhenToComeAgain() {
    outage(Duration.ofSeconds(4));
  }

  @Test
  @Tag("faults")
  void inAnOutageOf30SecondsKeysLastToTheWindowsEndAndComeBack() {
    outage(Duration.ofSeconds(30));
  }

  /** Of Postgres, for a gateway and for a library without one. */
  private void outage(Duration lasts) {
    try (GatewayFixture gateway = GatewayFixture.own();
        Snowflakes through =
            Snowflakes.leasedFrom(gateway.uri(), gateway.keyWith(Scope.KEYS_WRITE)).open()) {
      TestDatabase database = TestDatabase.fresh();
      try (Snowflakes direct = Snowflakes.leasedFrom(dataSource(database)).open()) {
        List<Snowflakes> both = List.of(through, direct);
        Set<Long> all = new HashSet<>();
        List<Long> last = new ArrayList<>();
        for (Snowflakes keys : both) {
          all.add(first(keys));
          last.add(0L);
        }
        long from = System.nanoTime();
        gateway.setReachable(false);
        database.setReachable(false);
        boolean[] refused = new boolean[2];
        while (System.nanoTime() - from < lasts.toNanos() || !refused[0] || !refused[1]) {
          for (int i = 0; i < 2; i++) {
            try {
              for (long key : both.get(i).nextBatch(1 + all.size() % 7)) {
                assertThat(all.add(key)).isTrue();
              }
              last.set(i, System.nanoTime() - from);
            } catch (KeysUnavailableException none) {
              refused[i] = true;
              assertThat(none.retryAfter()).isBetween(Duration.ofMillis(1), Duration.ofHours(1));
              assertThat(none).hasMessageContaining("ask again in");
            }
          }
          LockSupport.parkNanos(1_000_000);
        }
        // The last renewal before the outage may be a second old.
        assertThat(last).allMatch(nanos -> nanos < WINDOW_NANOS + 1_000_000_000L);
        assertThat(last).as("of a window of 3 s").allMatch(nanos -> nanos > WINDOW_NANOS / 3);
        gateway.setReachable(true);
        database.setReachable(true);
        for (Snowflakes keys : both) {
          assertThat(all.add(first(keys))).isTrue();
        }
      }
    }
  }
}
