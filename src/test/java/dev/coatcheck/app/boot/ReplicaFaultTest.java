package dev.coatcheck.app.boot;

import static dev.coatcheck.api.routes.TestClient.json;
import static dev.coatcheck.cluster.change.ReplicaPair.awaitUsed;
import static dev.coatcheck.cluster.change.ReplicaPair.passedOver;
import static dev.coatcheck.cluster.change.ReplicaPair.served;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.FreePort;
import dev.coatcheck.MachineDelay;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.cluster.change.ReplicaPair;
import dev.coatcheck.cluster.lease.FaultProxy;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.PgBouncer;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real streaming replica that is frozen, killed, delayed and interrupted. */
@Tag("faults")
@Tag("alone")
class ReplicaFaultTest {
  private static final Duration ANSWER_MAX = Duration.ofSeconds(1);
  private static final int CLIENTS = 8;

  private static ReplicaPair pair;
  private static GatewayFixture gateway;
  private static TestClient client;

  private String id = "";

  @BeforeAll
  static void start() throws Exception {
    pair = ReplicaPair.start();
    gateway = pair.gateway();
    client = gateway.client();
    TestClient.assertPut(client.put(TestType.of("charge", "ch")));
  }

  @BeforeEach
  void mint() {
    id = client.mint("charge").text("/id");
    awaitServed();
  }

  @AfterAll
  static void stop() throws Exception {
    gateway.close();
    pair.close();
  }

  private void awaitServed() {
    pair.awaitReplay();
    awaitUsed(gateway, true);
    await()
        .until(
            () -> {
              long before = served(client);
              assertThat(client.get("/v1/ids/" + id).status()).isEqualTo(200);
              return served(client) > before;
            });
  }

  @Test
  void aPoolerThatComesAfterTheStartAndRefusesBoundsLeadsToTheReplica(@TempDir Path folder)
      throws Exception {
    assumeTrue(PgBouncer.program().isPresent(), "no pgbouncer is installed");
    TestDatabase standby = TestDatabase.on(pair.servers().standby());
    try (FaultProxy way = new FaultProxy(FreePort.next());
        GatewayFixture early =
            GatewayFixture.on(
                pair.primary(),
                "COATCHECK_DATABASE_REPLICA_URL",
                pair.primary().behind(way.port()).url());
        PgBouncer pooler = PgBouncer.start(folder, standby, "session", 8, false, false)) {
      way.target(pooler.database().port());

      awaitUsed(early, true);
    }
  }

  /** No read waits for it for long, and it is found again: that it was frozen is not for ever. */
  @Test
  void aFrozenReplicaCostsNoAnswerAndIsUsedAgain() throws Exception {
    for (int round = 0; round < 2; round++) {
      try (MachineDelay delay = MachineDelay.measure();
          ExecutorService threads = Executors.newFixedThreadPool(CLIENTS)) {
        pair.servers().signalStandby("STOP");
        List<Future<?>> readers = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
          readers.add(
              threads.submit(
                  () -> {
                    for (int reads = 0; reads < 20; reads++) {
                      long asked = System.nanoTime();
                      int status = client.once().get("/v1/ids/" + id).status();
                      delay.requireWithin(ANSWER_MAX, Duration.ofNanos(System.nanoTime() - asked));
                      assertThat(status).isEqualTo(200);
                    }
                  }));
        }
        for (Future<?> reader : readers) {
          reader.get();
        }
        assertThat(client.get("/health/ready").status()).isEqualTo(200);
        awaitUsed(gateway, false);
        assertThat(passedOver(client, "slow")).isGreaterThan(0);
      } finally {
        pair.servers().signalStandby("CONT");
      }
      awaitServed();
    }
  }

  @Test
  void aKilledReplicaIsUsedAgainOnceItIsBack() throws Exception {
    pair.servers().signalStandby("KILL");
    for (int reads = 0; reads < 20; reads++) {
      assertThat(client.once().get("/v1/ids/" + id).status()).isEqualTo(200);
    }
    awaitUsed(gateway, false);
    assertThat(client.get("/health/ready").status()).isEqualTo(200);

    pair.startAgain();

    awaitServed();
  }

  /** Without a replica at its start too. */
  @Test
  void aGatewayStartsWithoutItsReplicaAndFindsIt() throws Exception {
    pair.servers().signalStandby("KILL");
    try (GatewayFixture another = pair.gateway()) {
      assertThat(another.client().get("/v1/ids/" + id).status()).isEqualTo(200);
      assertThat(served(another.client())).isZero();

      pair.startAgain();

      awaitUsed(another, true);
    }
  }

  @Test
  void aDelayedReplicaIsNeverBelieved() {
    pair.replica().execute("alter system set recovery_min_apply_delay = '1h'");
    pair.replica().execute("select pg_reload_conf()");
    await().until(() -> "1h".equals(pair.replica().text("show recovery_min_apply_delay")));
    String minted = client.mint("charge").text("/id");
    assertThat(client.get("/v1/ids/" + minted).status()).isEqualTo(200);

    client.post("/v1/ids/" + id + "/revoke", "{}");

    assertThat(client.get("/v1/ids/" + id).status()).isEqualTo(410);
    awaitUsed(gateway, false);
    assertThat(client.get("/v1/ids/" + id).status()).isEqualTo(410);

    pair.replica().execute("alter system reset recovery_min_apply_delay");
    pair.replica().execute("select pg_reload_conf()");
    id = minted;
    awaitServed();
  }

  /** As Postgres does with queries that conflict with what it replays. */
  @Test
  void aStatementThatTheReplicaBreaksOffIsAskedAtThePrimary() throws Exception {
    try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
      Future<?> interrupter =
          threads.submit(
              () -> {
                for (int i = 0; i < 60; i++) {
                  pair.replica()
                      .text(
                          "select count(pg_%s_backend(pid)) from pg_stat_activity"
                                  .formatted(i % 20 == 0 ? "terminate" : "cancel")
                              + " where application_name = 'coatcheck' and pid <>"
                              + " pg_backend_pid()");
                }
              });
      while (!interrupter.isDone()) {
        assertThat(client.once().get("/v1/ids/" + id).status()).isEqualTo(200);
      }
      interrupter.get();
    }
    awaitServed();
  }

  @Test
  void anotherClusterOrDatabaseIsRefusedAtTheStart() {
    TestDatabase shared = TestDatabase.fresh();
    String role =
        """
        do $$ begin
          create role everywhere superuser login password 'only for tests';
        exception when duplicate_object or unique_violation then
          null; -- by a run before, on a server that stays
        end $$\
        """;
    pair.primary().sql().execute(role);
    shared.sql().execute(role);
    TestDatabase everywhere =
        new TestDatabase(pair.primary().url(), "everywhere", "only for tests");

    assertRefused(
        everywhere,
        shared.url(),
        "The server at " + shared.url() + " is not a replica of the database: its system");
    assertRefused(
        shared,
        TestDatabase.fresh().url(),
        "it is another database of the same cluster. Check COATCHECK_DATABASE_REPLICA_URL.");
  }

  /** A replica of the coordinator has none of their rows. */
  @Test
  void distributedTablesHaveNoReplica() {
    assertRefused(
        TestDatabase.partitioned(),
        TestDatabase.fresh().url(),
        "COATCHECK_DATABASE_REPLICA_URL is set, but the tables of this database are distributed");
  }

  private static void assertRefused(TestDatabase on, String replica, String words) {
    assertThatThrownBy(() -> GatewayFixture.on(on, "COATCHECK_DATABASE_REPLICA_URL", replica))
        .rootCause()
        .hasMessageContaining(words);
  }

  /** The primary itself, by another name. */
  @Test
  void aServerThatTakesWritesIsNoReplica() {
    try (GatewayFixture other =
        pair.gateway(
            "COATCHECK_DATABASE_REPLICA_URL", pair.primary().url() + "?tcpKeepAlive=true")) {
      await()
          .until(
              () -> {
                assertThat(other.client().get("/v1/ids/" + id).status()).isEqualTo(200);
                return passedOver(other.client(), "promoted") > 0;
              });
      assertThat(served(other.client())).isZero();
      assertThat(other.client().post("/v1/ids/resolve", json("ids", List.of(id))).status())
          .isEqualTo(200);
    }
  }
}
