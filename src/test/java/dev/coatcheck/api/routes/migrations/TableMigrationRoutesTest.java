package dev.coatcheck.api.routes.migrations;

import static dev.coatcheck.api.routes.TestClient.json;
import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.ids.registry.TestType;
import java.util.Map;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.api.routes.TransferSocket;
import dev.coatcheck.ids.idempotency.IdempotencyKey;
import dev.coatcheck.postgres.sql.TestSession;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Table migrations over HTTP, with real tables in the gateway's own database. */
class TableMigrationRoutesTest {
  private static final String RUNS = "/v1/table-migrations";
  private static final GatewayFixture GATEWAY = new GatewayFixture();
  private static final TestClient API = GATEWAY.client();

  @AfterAll
  static void close() {
    GATEWAY.close();
  }

  @Test
  void aTableIsPlannedTakenThroughAllPhasesAndBack() {
    table("orders", 2_000);

    Reply planned = plan("orders");
    assertThat(planned.status()).isEqualTo(201);
    assertThat(planned.text("/table")).isEqualTo("public.orders");
    assertThat(planned.text("/state")).isEqualTo("planned");
    assertThat(planned.text("/plan/highest_id")).isEqualTo("2000");
    assertThat(planned.body().at("/plan/rows").longValue()).isEqualTo(2_000);
    assertThat(planned.body().at("/plan/steps").findValuesAsString("phase"))
        .contains("expand", "backfill", "index", "not_null", "verify");
    assertThat(planned.body().at("/plan/estimate/phases").findValuesAsString("phase"))
        .containsExactly("expand", "backfill", "index", "not_null", "verify");
    assertThat(planned.body().at("/steps")).hasSameSizeAs(planned.body().at("/plan/steps"));
    assertThat(
            GATEWAY.count(
                "select count(*) from pg_trigger where not tgisinternal"
                    + " and tgrelid = 'public.orders'::regclass"))
        .isZero();

    String run = RUNS + "/" + planned.text("/id");
    assertThat(API.get(run).body()).isEqualTo(planned.body());
    assertThat(start(planned).status()).isEqualTo(202);
    Reply done = await(planned, "done");
    assertThat(done.body().at("/progress/rows_done").longValue()).isEqualTo(2_000);
    assertThat(done.body().at("/steps").findValuesAsString("state")).containsOnly("verified");
    assertThat(done.body().at("/report/clean").booleanValue()).isTrue();
    assertThat(API.get("/v1/legacy/orders/1").status()).isEqualTo(200);
    assertThat(API.get(RUNS).body().at("/data").findValuesAsString("id"))
        .contains(planned.text("/id"));

    assertThat(API.send("POST", run + "/verify", null).status()).isEqualTo(202);
    await(planned, "done");
    assertThat(API.post(run + "/undo", "{}").status()).isEqualTo(202);
    Reply paused = await(planned, "paused");
    assertThat(phases(paused, "undone")).containsOnly("not_null", "verify");
    assertThat(paused.text("/undo_phase")).isEqualTo("not_null");
    assertThat(API.send("POST", run + "/forget", null).text("/detail"))
        .contains("The run is paused.", "Undo the run from expand on first");
    assertThat(API.send("POST", run + "/resume", null).status()).isEqualTo(202);
    await(planned, "done");
    assertThat(API.post(run + "/undo", json("phase", "expand")).status()).isEqualTo(202);
    assertThat(phases(await(planned, "cancelled"), "verified")).isEmpty();
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
    table("slow", 3_000);
    Reply planned = plan("slow");
    String run = RUNS + "/" + planned.text("/id");
    assertThat(set(run, json("rows_per_second_max", 10)).status()).isEqualTo(200);
    start(planned);
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
  void whatAnIndexWaitsForIsToldWithTheSessionInItsWay() {
    table("awaiting", 10);
    Reply planned = plan("awaiting");
    String run = RUNS + "/" + planned.text("/id");
    try (TestSession report = GATEWAY.sql().session()) {
      report.execute("set application_name = 'a long report'");
      report.beginSnapshot();
      start(planned);
      Awaitility.await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> !API.get(run).body().at("/waits_for").isNull());

      Reply waiting = API.get(run);

      assertThat(waiting.text("/waits_for/statement")).isEqualTo("new-perm");
      assertThat(waiting.text("/waits_for/event")).isEqualTo("waiting for old snapshots");
      assertThat(waiting.text("/waits_for/sessions/0/application")).isEqualTo("a long report");
      assertThat(waiting.text("/waits_for/sessions/0/state")).isEqualTo("idle in transaction");
      assertThat(waiting.body().at("/waits_for/sessions/0/pid").intValue()).isPositive();
      assertThat(waiting.text("/reason")).contains("a long report", "idle in transaction");
      report.rollback();
    }
    assertThat(await(planned, "done").body().at("/waits_for").isNull()).isTrue();
  }

  @Test
  void aFileGivesKeysToATableOnWhichNothingMayBeInstalled() {
    table("filed", 3);
    Reply planned = plan("filed");
    String file = RUNS + "/" + planned.text("/id") + "/import";
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
        API.post(RUNS + "/" + planned.text("/id") + "/start", "{}"),
        409,
        "table_migration_state",
        null);
    assertProblem(
        csv.post(RUNS + "/999999/import", "legacy_id\n1\n"), 404, "table_migration_unknown", "id");
    API.send("POST", RUNS + "/" + planned.text("/id") + "/cancel", null);
    assertProblem(csv.post(file, "legacy_id\n3\n"), 409, "table_migration_state", null);
  }

  @Test
  void theSameFileWithOneIdempotencyKeyIsTakenOnce() {
    table("filed_once", 3);
    Reply planned = plan("filed_once");
    String file = RUNS + "/" + planned.text("/id") + "/import";
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
          csv.with("Idempotency-Key", "filed-2").once().post(file, "legacy_id\n1\n"),
          409,
          "busy",
          null);
      other.rollback();
    }
  }

  /** A silent sender meets no limit of Jetty's before its idle time-out. */
  @Test
  void aFileThatIsSentTooSlowlyIsBrokenOff() throws IOException {
    table("filed_slowly", 3);
    Reply planned = plan("filed_slowly");
    String file = RUNS + "/" + planned.text("/id") + "/import";
    try (TransferSocket slow = TransferSocket.load(GATEWAY, file, 9_000_000, GATEWAY.key())) {
      slow.send("legacy_id\n1\n");

      String answer = slow.readToEnd().replace("HTTP/1.1 100 Continue\r\n\r\n", "");

      assertThat(answer).startsWith("HTTP/1.1 408").contains("\"code\":\"request_timeout\"");
      slow.check("POST", file, answer);
    }
  }

  @Test
  void whatThePlanAsksForHasToBeAccepted() {
    table("asking", 1);
    Reply planned = plan("asking");
    String run = RUNS + "/" + planned.text("/id");
    GATEWAY.execute(
        """
        update coatcheck.table_migration set plan = jsonb_set(plan, '{preconditions}',
          '[{"code": "one", "detail": "First.", "found": [], "notSearched": null},
            {"code": "two", "detail": "Second.", "found": [], "notSearched": null}]')
         where table_name = 'asking'\
        """);

    assertThat(API.get(run).body().at("/plan/preconditions").findValuesAsString("code"))
        .containsExactly("one", "two");
    Reply refused = API.post(run + "/start", json("accept", List.of("one", "three")));
    assertProblem(refused, 409, "preconditions_not_accepted", null);
    assertThat(refused.text("/preconditions/0/code")).isEqualTo("two");
    assertProblem(
        API.hostile().post(run + "/start", json("accept", List.of("No"))),
        400,
        "field_invalid",
        "accept");
    Reply started = API.post(run + "/start", json("accept", List.of("two", "one")));
    assertThat(started.status()).isEqualTo(202);
    assertThat(started.body().at("/accepted")).hasSize(2);
    assertProblem(API.post(run + "/start", "{}"), 409, "table_migration_state", null);
    await(planned, "done");
  }

  @Test
  void whatCantBeMigratedIsRefusedWithReasons() {
    table("other", 1);
    API.put(TestType.of("uuids", "uu").uuids());

    assertProblem(
        API.post(RUNS, json("table", "other", "type", "nothing")), 404, "type_unknown", "type");
    assertProblem(
        API.post(
            RUNS, json("table", "other", "type", "other", "application_search_path", "a,,b")),
        400,
        "field_invalid",
        "application_search_path");
    assertProblem(
        API.post(RUNS, json("table", "other", "type", "other", "source", "nowhere")),
        404,
        "source_unknown",
        "source");
    Reply unsuitable = API.post(RUNS, json("table", "other", "type", "uuids"));
    assertProblem(unsuitable, 422, "table_migration_refused", null);
    assertThat(unsuitable.text("/refusals/0/code")).isEqualTo("type_unsuitable");
    assertThat(unsuitable.text("/refusals/0/detail")).endsWith(".");
    assertThat(API.get(RUNS).body().at("/data").findValuesAsString("table"))
        .doesNotContain("public.other");
  }

  @Test
  void aTableThatChangedSinceItsPlanIsNotStarted() {
    table("changing", 1);
    Reply planned = plan("changing");
    GATEWAY.execute("drop table public.changing");
    table("changing", 1);

    Reply refused = API.post(RUNS + "/" + planned.text("/id") + "/start", "{}");

    assertProblem(refused, 422, "table_migration_refused", null);
    assertThat(refused.text("/refusals/0/code")).isEqualTo("table_changed");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "\\\"",
        "\\\"a",
        "a\\\"b",
        "\\\"a\\\"b",
        "a.\\\"b\\\".c",
        ".",
        "a.",
        "\\\"\\\""
      })
  void aTableThatIsNoNameIsRefused(String table) {
    type("names");

    Reply refused = API.post(RUNS, json("table", table, "type", "names"));

    assertProblem(refused, 422, "table_migration_refused", null);
    assertThat(refused.text("/refusals/0/code")).isEqualTo("table_malformed");
  }

  @Test
  void namesInQuotesAreTakenAsTheyAre() {
    type("quoted");
    GATEWAY.execute("create schema \"My.Shop\"");
    GATEWAY.execute("create table \"My.Shop\".\"Some \"\"Orders\"\"\" (id bigserial primary key)");

    Reply planned =
        API.post(
            RUNS,
            json("table", "\"My.Shop\".\"Some \"\"Orders\"\"\"", "type", "quoted"));

    assertThat(planned.status()).isEqualTo(201);
    assertThat(planned.text("/table")).isEqualTo("\"My.Shop\".\"Some \"\"Orders\"\"\"");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/start", "/pause", "/resume", "/retry", "/cancel", "/verify", "/undo", "/forget"})
  void aRunThatIsntThereIsSaid(String verb) {
    String body = verb.equals("/start") || verb.equals("/undo") ? "{}" : null;

    assertProblem(
        API.send("POST", RUNS + "/999" + verb, body), 404, "table_migration_unknown", "id");
  }

  @Test
  void whatIsNoNumberOfARunIsUnknown() {
    for (String id : List.of("0", "-1", "x", "007", "9223372036854775808", "1e3")) {
      assertProblem(API.hostile().get(RUNS + "/" + id), 404, "table_migration_unknown", "id");
    }
    assertProblem(set(RUNS + "/999", "{}"), 404, "table_migration_unknown", "id");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/resume", "/retry", "/pause", "/verify", "/undo", "/forget"})
  void whatDoesNotGoWithAPlannedRunIsSaid(String verb) {
    table("waiting", 1);
    String run = RUNS + "/" + plan("waiting").text("/id");
    String body = verb.equals("/undo") ? "{}" : null;

    Reply refused = API.send("POST", run + verb, body);

    assertProblem(refused, 409, "table_migration_state", null);
    assertThat(refused.text("/detail")).startsWith("The run is planned. ");
    API.send("POST", run + "/cancel", null);
    assertProblem(API.send("POST", run + "/cancel", null), 409, "table_migration_state", null);
    GATEWAY.execute("drop table public.waiting");
  }

  @Test
  void settingsKeepToTheirRanges() {
    table("throttled", 1);
    String run = RUNS + "/" + plan("throttled").text("/id");

    Reply set =
        set(
            run,
            """
            {"batch_millis":20,"rows_per_second_max":1000000,"replica_lag_seconds_max":0,"lock_waits_max":86400,
             "long_transaction_seconds_max":1,"latency_millis_max":2,"archive_failures":false,
             "wal_megabytes_per_second_max":10000000,"slot_megabytes_max":0,"vacuum_seconds_max":86400}\
            """);
    assertThat(set.status()).isEqualTo(200);
    assertThat(set.body().at("/throttle/rows_per_second_max").intValue()).isEqualTo(1_000_000);
    Reply again = set(run, json("lock_waits_max", 3));
    assertThat(again.body().at("/throttle/batch_millis").intValue()).isEqualTo(20);
    assertThat(again.body().at("/throttle/archive_failures").booleanValue()).isFalse();
    assertThat(again.body().at("/throttle/lock_waits_max").intValue()).isEqualTo(3);
    assertThat(API.get(run).body().at("/throttle")).isEqualTo(again.body().at("/throttle"));
  }

  @ParameterizedTest
  @CsvSource({
    "batch_millis, 19", "batch_millis, 0", "batch_millis, 1000000000",
    "rows_per_second_max, 1000001", "rows_per_second_max, -1", "lock_waits_max, 86401",
    "wal_megabytes_per_second_max, 10000001", "slot_megabytes_max, -1", "vacuum_seconds_max, 86401",
    "latency_millis_max, 99999999999999999999", "replica_lag_seconds_max, -99999999999999999999"
  })
  void aThrottleSettingOutOfItsRangeIsRefused(String setting, String value) {
    assertProblem(
        API.hostile().send("PATCH", RUNS + "/1", "{\"" + setting + "\":" + value + "}"),
        422,
        "throttle_out_of_range",
        setting);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          "500"
          1.5
          null
          true
          1e3
          """)
  void aThrottleSettingThatIsNoNumberIsMalformed(String value) {
    assertProblem(
        API.hostile().send("PATCH", RUNS + "/1", "{\"batch_millis\":" + value + "}"),
        400,
        "field_invalid",
        "batch_millis");
  }

  @Test
  void whatIsOddAboutARequestIsSaid() {
    TestClient hostile = API.hostile();
    type("odd");
    assertProblem(hostile.post(RUNS, json("type", "odd")), 400, "field_missing", "table");
    assertProblem(
        hostile.post(RUNS, json("table", "odd", "type", "odd", "rows", 1)),
        400,
        "field_unknown",
        "rows");
    assertProblem(
        hostile.post(RUNS + "/1/undo", json("phase", "verify")), 400, "field_invalid", "phase");
    assertProblem(hostile.post(RUNS + "/1/start", "[]"), 400, "json_malformed", null);
    assertProblem(hostile.get(RUNS + "?state=done"), 400, "parameter_unknown", null);
    assertProblem(
        hostile.send("POST", RUNS + "/1/pause?now=1", null), 400, "parameter_unknown", null);
  }

  private static void type(String name) {
    API.put(TestType.of(name, name).with("legacy", Map.of()));
  }

  /** In the schema public, whatever the role is called, with a type of the same name. */
  private static void table(String name, int rows) {
    type(name);
    GATEWAY.execute("create table public.%s (id bigserial primary key)".formatted(name));
    GATEWAY.execute(
        "insert into public.%s select from generate_series(1, %d)".formatted(name, rows));
  }

  private static Reply plan(String table) {
    return API.post(RUNS, json("table", table, "type", table));
  }

  /** Accepts whatever it has to. */
  private static Reply start(Reply planned) {
    List<String> codes =
        planned.body().at("/plan/preconditions").findValuesAsString("code");
    return API.post(RUNS + "/" + planned.text("/id") + "/start", json("accept", codes));
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

  private static Reply await(Reply planned, String state) {
    String run = RUNS + "/" + planned.text("/id");
    Awaitility.await()
        .pollInterval(Duration.ofMillis(100))
        .until(
            () -> {
              Reply now = API.get(run);
              if (now.text("/state").equals("failed")) {
                throw new AssertionError(now.body().at("/reason").asString());
              }
              return now.text("/state").equals(state);
            });
    return API.get(run);
  }
}
