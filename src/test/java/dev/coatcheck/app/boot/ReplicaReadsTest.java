package dev.coatcheck.app.boot;

import static dev.coatcheck.api.routes.TestClient.json;
import static dev.coatcheck.cluster.change.ReplicaPair.awaitUsed;
import static dev.coatcheck.cluster.change.ReplicaPair.passedOver;
import static dev.coatcheck.cluster.change.ReplicaPair.served;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.cluster.change.ReplicaPair;
import dev.coatcheck.ids.registry.TestType;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Reads at a real streaming replica that is sometimes paused. */
class ReplicaReadsTest {
  private static ReplicaPair pair;
  private static GatewayFixture gateway;
  private static TestClient client;

  @BeforeAll
  static void start() throws Exception {
    pair = ReplicaPair.start();
    // Of a neighbour: it must not run, neither here nor there.
    pair.primary()
        .sql()
        .execute(
            """
            create function public.times(numeric, integer) returns numeric language plpgsql as
            $$ begin raise exception 'planted'; end $$
            """,
            "create operator public.* (function = public.times, leftarg = numeric,"
                + " rightarg = integer)");
    gateway = pair.gateway();
    client = gateway.client();
    TestClient.assertPut(client.put(TestType.of("charge", "ch")));
    TestClient.assertPut(client.put(TestType.of("user", "usr").uuids()));
  }

  @AfterAll
  static void stop() throws Exception {
    gateway.close();
    pair.close();
  }

  private static String minted(String type) {
    return client.mint(type).text("/id");
  }

  /** Reads again until the replica has answered: each read must be right, wherever it was done. */
  private static void untilServed(int ids, Runnable read) {
    pair.awaitReplay();
    await()
        .until(
            () -> {
              long before = served(client);
              read.run();
              return served(client) - before == ids;
            });
  }

  @Test
  void activeIdsAreResolvedAndLookedUpAtTheReplica() {
    TestClient.Reply charge = client.mint("charge");
    String id = charge.text("/id");
    String user = minted("user");

    untilServed(1, () -> assertThat(client.get("/v1/ids/" + id).status()).isEqualTo(200));
    untilServed(
        1,
        () ->
            assertThat(client.get("/v1/types/charge/keys/" + charge.text("/key")).text("/id"))
                .isEqualTo(id));
    untilServed(
        2,
        () ->
            assertThat(
                    client
                        .post("/v1/ids/resolve", json("ids", List.of(id, user)))
                        .body()
                        .at("/data"))
                .allMatch(item -> item.at("/status").asInt() == 200));
    untilServed(
        1,
        () ->
            assertThat(
                    client
                        .post(
                            "/v1/ids/lookup",
                            json("type", "charge", "keys", List.of(charge.text("/key"))))
                        .text("/data/0/public_id/id"))
                .isEqualTo(id));
  }

  @Test
  void aPausedReplicaIsNeverBelieved() {
    String known = minted("charge");
    String revoked = minted("charge");
    TestClient.Reply survivor = client.mint("charge");
    String merged = minted("charge");
    untilServed(1, () -> assertThat(client.get("/v1/ids/" + revoked).status()).isEqualTo(200));
    pair.pause();
    try {
      long misses = passedOver(client, "miss") + passedOver(client, "behind");
      String unseen = minted("charge");
      assertThat(client.get("/v1/ids/" + unseen).status())
          .as("a miss is asked again")
          .isEqualTo(200);
      assertThat(passedOver(client, "miss") + passedOver(client, "behind")).isGreaterThan(misses);

      assertThat(client.post("/v1/ids/" + revoked + "/revoke", "{}").status()).isEqualTo(200);
      // The feed has not read it yet, and the replica has another row.
      assertThat(client.get("/v1/ids/" + revoked).status()).isEqualTo(410);
      assertThat(
              client
                  .post("/v1/ids/" + merged + "/merge", json("into", survivor.text("/id")))
                  .status())
          .isEqualTo(200);
      assertThat(client.get("/v1/ids/" + merged).text("/key")).isEqualTo(survivor.text("/key"));

      awaitUsed(gateway, false);
      long before = served(client);
      assertThat(client.get("/v1/ids/" + known).status()).isEqualTo(200);
      assertThat(client.get("/v1/ids/" + revoked).status()).isEqualTo(410);
      assertThat(served(client)).isEqualTo(before);
      assertThat(client.get("/health/ready").status()).isEqualTo(200);
    } finally {
      pair.resume();
    }
    awaitUsed(gateway, true);
    untilServed(1, () -> assertThat(client.get("/v1/ids/" + known).status()).isEqualTo(200));
    assertThat(client.get("/v1/ids/" + revoked).status()).isEqualTo(410);
    assertThat(client.get("/v1/ids/" + merged).text("/key")).isEqualTo(survivor.text("/key"));
  }

  /** Two databases that parted have other changes of the same numbers. */
  @Tag("faults")
  @Test
  void aReplicaWithAnotherHistoryIsNotBelieved() {
    String id = minted("charge");
    untilServed(1, () -> assertThat(client.get("/v1/ids/" + id).status()).isEqualTo(200));
    pair.pause();
    try {
      gateway.execute(
          "update coatcheck.change set created_at = created_at + interval '1 microsecond'"
              + " where number = (select number from coatcheck.change_head)");
      awaitUsed(gateway, false);
      assertThat(client.get("/v1/ids/" + id).status()).isEqualTo(200);
    } finally {
      pair.resume();
    }
    awaitUsed(gateway, true);
  }

  @Test
  void anUnknownIdIsUnknown() {
    assertThat(client.get("/v1/ids/ch_00000000000000000000002B").status()).isEqualTo(404);
  }
}
