package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.cluster.lease.FaultProxy;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestDatabase;
import org.junit.jupiter.api.Test;

/** A mint whose commit nobody heard of. */
class UnknownOutcomeTest {
  private static final String INSERT = "insert into coatcheck.public_id";

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
      TestClient.Reply lost;
      do { // a busy machine may refuse a mint before it comes so far
        lost = client.once().mint("charge");
      } while (!proxy.isTrapped());
      proxy.freeze(false);

      TestClient.assertProblem(lost, "503 database_unavailable");
      assertThat(gateway.count("select count(*) from coatcheck.public_id")).isEqualTo(1);
      assertThat(client.mint("charge").status()).isEqualTo(201);
    }
  }
}
