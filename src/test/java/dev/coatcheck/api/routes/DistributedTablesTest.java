package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertPut;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Each request reads and writes one shard for each of its rows. */
class DistributedTablesTest {
  /** A session's counts are added when it ends, and those of this one on request. */
  private static final String[] FLUSH = {
    """
    select count(pg_terminate_backend(pid, 5000)) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()
    """,
    "select pg_stat_force_next_flush()"
  };

  /** How often each partition of a table was looked into. */
  private static final String LOOKS =
      """
      select relname || ' ' || (coalesce(seq_scan, 0) + coalesce(idx_scan, 0) + n_tup_ins)
        from pg_stat_user_tables
       where schemaname = 'coatcheck' and relname ~ '^(public_id|alias)_p' order by relname
      """;

  @Test
  void mintResolveLookUpRevokeAndErasureOfAPublicIdUseOnePartition() {
    TestDatabase database = TestDatabase.partitioned();
    List<String> before;
    try (GatewayFixture gateway = GatewayFixture.on(database)) {
      TestClient api = gateway.client();
      assertPut(api.put(TestType.of("charge", "ch").with("generate", "none")));
      database.sql().execute(FLUSH);
      Awaitility.await().until(() -> api.get("/v1/types").status() == 200);
      before = database.sql().texts(LOOKS);

      String id = api.mint("charge", "key", "42").text("/id");
      assertThat(api.get("/v1/ids/" + id).status()).isEqualTo(200);
      assertThat(api.get("/v1/types/charge/keys/42").text("/id")).isEqualTo(id);
      assertThat(api.post("/v1/ids/" + id + "/revoke", "{}").status()).isEqualTo(200);
      assertThat(api.get("/v1/ids/" + id).status()).isEqualTo(410);
      assertThat(api.post("/v1/ids/" + id + "/erase", "").status()).isIn(200, 202);
    }
    database.sql().execute(FLUSH);
    List<String> after = database.sql().texts(LOOKS);

    assertThat(used(before, after, "public_id_p")).hasSize(1);
    // An alias lies in the shard of its value, so an erasure asks each shard for aliases once.
    assertThat(used(before, after, "alias_p")).hasSize(16);
  }

  private static List<String> used(List<String> before, List<String> after, String prefix) {
    return after.stream()
        .filter(look -> look.startsWith(prefix) && !before.contains(look))
        .toList();
  }

  @Test
  void anAliasThatIsSeenBeforeItsMappingIsNeverUnknown() {
    TestDatabase database = TestDatabase.partitioned();
    try (GatewayFixture gateway = GatewayFixture.on(database)) {
      TestClient api = gateway.client();
      assertPut(api.put(TestType.of("charge", "ch").with("legacy", Map.of())));
      String id = api.mint("charge", "legacy_id", "7").text("/id");
      database
          .sql()
          .execute(
              "create table hidden as select * from coatcheck.public_id",
              "delete from coatcheck.public_id");

      TestClient once = api.once();
      assertThat(once.get("/v1/legacy/charge/7").status()).isEqualTo(503);
      assertThat(
              once.post("/v1/legacy/resolve", "{\"type\":\"charge\",\"legacy_ids\":[\"7\"]}")
                  .status())
          .isEqualTo(503);

      database.sql().execute("insert into coatcheck.public_id select * from hidden");
      assertThat(once.get("/v1/legacy/charge/7").text("/id")).isEqualTo(id);
      assertThat(api.mint("charge", "legacy_id", "7").text("/id")).isEqualTo(id);
      assertThat(api.post("/v1/ids/" + id + "/revoke", json("reason", "test")).status())
          .isEqualTo(200);
    }
  }
}
