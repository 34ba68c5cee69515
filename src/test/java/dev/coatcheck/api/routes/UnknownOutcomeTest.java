package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.cluster.lease.FaultProxy;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** A mint whose commit nobody heard of. */
class UnknownOutcomeTest {
  private static final String INSERT = "insert into coatcheck.public_id";
  private static final String ROWS = "select count(*) from coatcheck.public_id";
  private static final String WAITING =
      "select count(*) from pg_locks where not granted and relation ="
          + " 'coatcheck.public_id'::regclass";

  @Test
  void aMintThatMayBeWrittenIsNotWrittenTwice() throws Exception {
    TestDatabase database = TestDatabase.fresh();
    try (FaultProxy proxy = new FaultProxy(database.port());
        GatewayFixture gateway =
            GatewayFixture.on(
                database, "COATCHECK_DATABASE_URL", database.behind(proxy.port()).url())) {
      TestClient client = gateway.client();
      client.put(TestType.of("charge", "ch"));

      proxy.freezeAt(new FaultProxy.Trap(INSERT, true, false));
      int minted = 0;
      do { // a busy machine may refuse a mint before it comes so far, or before it is trapped
        TestClient.Reply reply = client.once().mint("charge");
        if (reply.status() == 201) {
          minted++;
        } else {
          TestClient.assertProblem(reply, "503 database_unavailable");
        }
      } while (!proxy.isTrapped());
      proxy.freeze(false);

      assertThat(gateway.count("select count(*) from coatcheck.public_id")).isEqualTo(minted + 1);
      assertThat(client.mint("charge").status()).isEqualTo(201);
    }
  }

  /** A feed that leaps makes the instance read each API key again. */
  @Test
  void aMintIsDoneOnceThoughItsKeyLeavesMemoryBeforeItIsAnswered() throws Exception {
    try (GatewayFixture gateway = GatewayFixture.own();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      TestClient client = gateway.client();
      TestClient watching = new TestClient(gateway.uri(), gateway.keyWith(Scope.METRICS_READ));
      client.put(TestType.of("charge", "ch"));
      TestClient.Reply minted;
      long before;
      do { // a poll of the feed may come too late for the mint
        client.mint("charge");
        before = gateway.count(ROWS);
        try (TestSession other = gateway.sql().session()) {
          other.begin("lock table coatcheck.public_id in share mode");
          Future<TestClient.Reply> waiting = threads.submit(() -> client.once().mint("charge"));
          Awaitility.await()
              .pollInterval(Duration.ofMillis(5))
              .until(() -> waiting.isDone() || gateway.count(WAITING) > 0);
          String position = position(watching);
          gateway.execute("update coatcheck.change_head set number = number + 10");
          Awaitility.await()
              .pollInterval(Duration.ofMillis(5))
              .until(() -> waiting.isDone() || !position(watching).equals(position));
          other.rollback();
          minted = waiting.get();
        }
      } while (minted.status() != 201);

      assertThat(gateway.count(ROWS)).isEqualTo(before + 1);
    }
  }

  private static String position(TestClient client) {
    return client
        .get("/metrics")
        .body()
        .stringValue()
        .lines()
        .filter(line -> line.startsWith("coatcheck_feed_position "))
        .findFirst()
        .orElseThrow();
  }
}
