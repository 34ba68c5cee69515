package dev.coatcheck.app.boot;

import static dev.coatcheck.cluster.change.ReplicaPair.awaitUsed;
import static dev.coatcheck.cluster.change.ReplicaPair.passedOver;
import static dev.coatcheck.cluster.change.ReplicaPair.served;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.cluster.change.ReplicaPair;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestDatabase;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two primaries: the replica was promoted, and the gateway stays with its primary. */
@Tag("faults")
class PromotedReplicaTest {
  /** It takes writes, and its next changes have the numbers of the primary's next changes. */
  @Test
  void aPromotedReplicaIsNeverBelieved() throws Exception {
    try (ReplicaPair pair = ReplicaPair.start();
        GatewayFixture gateway = pair.gateway()) {
      promotedReplica(pair, gateway);
    }
  }

  private static void promotedReplica(ReplicaPair pair, GatewayFixture gateway) throws Exception {
    TestClient client = gateway.client();
    TestClient.assertPut(client.put(TestType.of("charge", "ch")));
    String id = client.mint("charge").text("/id");
    pair.awaitReplay();
    await()
        .until(
            () -> {
              assertThat(client.get("/v1/ids/" + id).status()).isEqualTo(200);
              return served(client) > 0;
            });
    pair.servers().promote();
    TestDatabase promoted =
        new TestDatabase(
            pair.servers().standby().jdbcUrl(),
            pair.servers().standby().user(),
            pair.servers().standby().password());
    String ofOther;
    try (GatewayFixture other = GatewayFixture.on(promoted)) {
      ofOther = other.client().mint("charge", "key", "41").text("/id");
      String doomed = other.client().mint("charge", "key", "42").text("/id");
      other.client().post("/v1/ids/" + doomed + "/revoke", "{}");
    }
    client.post("/v1/ids/" + id + "/revoke", "{}");

    for (int reads = 0; reads < 20; reads++) {
      assertThat(client.get("/v1/ids/" + id).status()).isEqualTo(410);
      assertThat(client.get("/v1/ids/" + ofOther).status()).isEqualTo(404);
    }
    awaitUsed(gateway, false);
    assertThat(passedOver(client, "promoted")).isGreaterThan(0);
    assertThat(client.get("/health/ready").status()).isEqualTo(200);
  }
}
