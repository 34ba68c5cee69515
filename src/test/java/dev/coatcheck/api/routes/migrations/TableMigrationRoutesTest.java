package dev.coatcheck.api.routes.migrations;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.idempotency.IdempotencyKey;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Table migrations over HTTP, with real tables in the gateway's own database. */
class TableMigrationRoutesTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.own();
  private static final TestClient API = GATEWAY.client();
  private static final Runs RUNS = Runs.of(GATEWAY);

  @Test
  void aTableIsPlannedTakenThroughAllPhasesAndBack() {
    RUNS.table("orders", 2_000);

    Reply planned = RUNS.plan("orders");
    assertThat(planned.status()).isEqualTo(201);
    assertThat(planned.text("/table")).isEqualTo("public.orders");
    assertThat(planned.text("/state")).isEqualTo("planned");
    assertThat(planned.text("/plan/highest_id")).isEqualTo("2000");
    assertThat(planned.body().at("/plan/rows").longValue()).isEqualTo(2_000);
    assertThat(planned.body().at("/plan/steps").findValuesAsString("phase"))
        .contains("expand", "backfill", "index", "not_null", "verify", "prepare_switch", "switch");
    assertThat(planned.body().at("/plan/estimate/phases").findValuesAsString("phase"))
        .containsExactly(
            "expand",
            "backfill",
            "index",
            "not_null",
            "children",
            "verify",
            "prepare_switch",
            "switch",
            "contract");
    assertThat(planned.body().at("/steps")).hasSameSizeAs(planned.body().at("/plan/steps"));
    assertThat(
            GATEWAY.count(
                "select count(*) from pg_trigger where not tgisinternal"
                    + " and tgrelid = 'public.orders'::regclass"))
        .isZero();

    String run = Runs.path(planned);
    assertThat(API.get(run).body()).isEqualTo(planned.body());
    assertThat(RUNS.start(Runs.path(planned)).status()).isEqualTo(202);
    Reply done = RUNS.await(Runs.path(planned), "done");
    assertThat(done.body().at("/progress/rows_done").longValue()).isEqualTo(2_000);
    assertThat(phases(done, "pending")).containsOnly("prepare_switch", "switch", "contract");
    assertThat(done.body().at("/steps").findValuesAsString("state"))
        .containsOnly("verified", "pending");
    assertThat(done.body().at("/report/clean").booleanValue()).isTrue();
    assertThat(API.get("/v1/legacy/orders/1").status()).isEqualTo(200);
    assertThat(API.get(Runs.PATH).body().at("/data").findValuesAsString("id"))
        .contains(planned.text("/id"));

    assertThat(API.send("POST", run + "/verify", null).status()).isEqualTo(202);
    RUNS.await(Runs.path(planned), "done");
    assertThat(API.post(run + "/undo", "{}").status()).isEqualTo(202);
    Reply paused = RUNS.await(Runs.path(planned), "paused");
    assertThat(phases(paused, "undone")).containsOnly("not_null", "verify");
    assertThat(paused.text("/undo_phase")).isEqualTo("not_null");
    assertThat(API.send("POST", run + "/forget", null).text("/detail"))
        .contains("The run is paused.", "Undo the run from expand on first");
    assertThat(API.send("POST", run + "/resume", null).status()).isEqualTo(202);
    RUNS.await(Runs.path(planned), "done");
    assertThat(API.post(run + "/undo", json("phase", "expand")).status()).isEqualTo(202);
    assertThat(phases(RUNS.await(Runs.path(planned), "cancelled"), "verified")).isEmpty();
    assertThat(API.get(run).text("/undo_phase")).isEqualTo("expand");
    assertProblem(API.post(run + "/undo", "{}"), 409, "table_migration_state", null);
    assertThat(API.send("POST", run + "/forget", null).status()).isEqualTo(200);
    assertThat(
            GATEWAY.count(
                "select count(*) from pg_class where relname like 'archive_public_orders%' and"
                    + " relkind = 'r'"))
        .isZero();
  }

  @Test
  void aRunIsPausedSetGoneOnWithTriedAgainAndCancelled() {
    RUNS.table("slow", 3_000);
    Reply planned = RUNS.plan("slow");
    String run = Runs.path(planned);
    assertThat(set(run, json("rows_per_second_max", 10)).status()).isEqualTo(200);
    RUNS.start(Runs.path(planned));
    Awaitility.await().until(() -> API.get(run).body().at("/progress/rows_done").longValue() > 0);
    assertThat(API.get(run).text("/reason")).contains("10 rows a second");

    Reply paused = API.send("POST", run + "/pause", null);
    assertThat(paused.status()).isEqualTo(200);
    assertThat(paused.text("/state")).isEqualTo("paused");
    assertThat(paused.body().has("plan")).isFalse();
    assertProblem(API.send("POST", run + "/pause", null), 409, "table_migration_state", null);
    assertThat(API.send("POST", run + "/resume", null).text("/state")).isEqualTo("running");

    API.send("POST", run + "/pause", null);
    GATEWAY.execute("update coatcheck.table_migration set state = 'failed' where state = 'paused'");
    Reply retried = API.send("POST", run + "/retry", null);
    assertThat(retried.status()).isEqualTo(202);
    Reply cancelled = API.send("POST", run + "/cancel", null);
    assertThat(cancelled.status()).isEqualTo(200);
    assertThat(cancelled.text("/state")).isEqualTo("cancelled");
    assertThat(API.post(run + "/undo", json("phase", null)).status()).isEqualTo(202);
    Awaitility.await().until(() -> phases(API.get(run), "undone").contains("expand"));
  }

  @Test
  void whatARunWaitsForIsToldWithTheSessionInItsWay() {
    RUNS.table("awaiting", 1);
    Reply planned = RUNS.plan("awaiting");
    GATEWAY.execute(
        """
        update coatcheck.table_migration set waits_for =
          '{"operation": "new-perm", "event": "waiting for old snapshots", "sessions":
            [{"pid": 7, "user": "dba", "application": "a long report", "state": "idle", "since": null}]}'
         where table_name = 'awaiting'\
        """);

    Reply waiting = API.get(Runs.path(planned));

    assertThat(planned.body().at("/waits_for").isNull()).isTrue();
    assertThat(waiting.text("/waits_for/statement")).isEqualTo("new-perm");
    assertThat(waiting.text("/waits_for/event")).isEqualTo("waiting for old snapshots");
    assertThat(waiting.text("/waits_for/sessions/0/application")).isEqualTo("a long report");
    assertThat(waiting.text("/waits_for/sessions/0/state")).isEqualTo("idle");
    assertThat(waiting.body().at("/waits_for/sessions/0/pid").intValue()).isEqualTo(7);
  }

  @Test
  void aFileGivesKeysToATableOnWhichNothingMayBeInstalled() {
    RUNS.table("filed", 3);
    Reply planned = RUNS.plan("filed");
    String file = Runs.PATH + "/" + planned.text("/id") + "/import";
    TestClient csv = API.with("Content-Type", "text/csv");

    Reply taken =
        csv.post(
            file + "?errors_max=1", "legacy_id,created_at\n1,2024-01-01T00:00:00Z\n2,\n2,\nx,\n");
    assertThat(taken.status()).isEqualTo(200);
    assertThat(taken.body().at("/created").longValue()).isEqualTo(2);
    assertThat(taken.body().at("/refused").longValue()).isEqualTo(2);
    assertThat(taken.text("/errors/0/code")).isEqualTo("legacy_id_out_of_order");
    assertThat(API.get("/v1/legacy/" + planned.text("/type") + "/2").status()).isEqualTo(200);
    assertProblem(csv.post(file, "id\n1\n"), 400, "request_invalid", null);
    assertProblem(
        API.post(Runs.PATH + "/" + planned.text("/id") + "/start", "{}"),
        409,
        "table_migration_state",
        null);
    assertProblem(
        csv.post(Runs.PATH + "/999999/import", "legacy_id\n1\n"),
        404,
        "table_migration_unknown",
        "id");
    API.send("POST", Runs.PATH + "/" + planned.text("/id") + "/cancel", null);
    assertProblem(csv.post(file, "legacy_id\n3\n"), 409, "table_migration_state", null);
  }

  @Test
  void theSameFileWithOneIdempotencyKeyIsTakenOnce() {
    RUNS.table("filed_once", 3);
    Reply planned = RUNS.plan("filed_once");
    String file = Runs.PATH + "/" + planned.text("/id") + "/import";
    TestClient csv = API.with("Content-Type", "text/csv");
    TestClient keyed = csv.with("Idempotency-Key", "filed-1");

    Reply first = keyed.post(file, "legacy_id\n1\n");
    Reply second = keyed.post(file, "legacy_id\n1\n");

    assertThat(first.body().at("/created").longValue()).isEqualTo(1);
    assertThat(second.has("idempotent-replayed")).isTrue();
    assertThat(second.body()).isEqualTo(first.body());
    assertProblem(
        keyed.post(file, "legacy_id\n2\n"), 422, "idempotency_key_reused", "Idempotency-Key");
    try (TestSession other = GATEWAY.sql().session()) {
      other.begin(
          "select pg_advisory_xact_lock(%d)"
              .formatted(new IdempotencyKey("test", "filed-2").lock()));
      assertProblem(
          csv.with("Idempotency-Key", "filed-2")
              .refused("busy", once -> once.post(file, "legacy_id\n1\n")),
          409,
          "busy",
          null);
      other.rollback();
    }
  }

  private static Reply set(String run, String throttleSettings) {
    return API.send("PATCH", run, throttleSettings);
  }

  private static List<String> phases(Reply run, String state) {
    return run.body()
        .at("/steps")
        .valueStream()
        .filter(step -> step.path("state").asString().equals(state))
        .map(step -> step.path("phase").asString())
        .toList();
  }
}
