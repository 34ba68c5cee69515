package dev.coatcheck.api.routes.migrations;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Table migrations over HTTP, with real tables in the gateway's own database; what can't be
 * planned, started or set is said with its reason.
 */
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
    assertProblem(API.post(run + "/undo", "{}"), "409 table_migration_state");
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
    assertProblem(API.send("POST", run + "/pause", null), "409 table_migration_state");
    assertThat(API.send("POST", run + "/resume", null).text("/state")).isEqualTo("running");

    API.send("POST", run + "/pause", null);
    GATEWAY.execute("update coatcheck.table_migration set state = 'failed' where state = 'paused'");
    Reply retried = API.send("POST", run + "/retry", null);
    assertThat(retried.status()).isEqualTo(202);
    Reply cancelled = API.send("POST", run + "/cancel", null);
    assertThat(cancelled.status()).isEqualTo(200);
    assertThat(cancelled.text("/state")).isEqualTo("cancelled");
    assertThat(API.post(run + "/undo", json("phase", null)).status()).isEqualTo(202);
    // It keeps to the rate, too, which can be changed while it works.
    assertThat(set(run, json("rows_per_second_max", 0)).status()).isEqualTo(200);
    Awaitility.await().until(() -> phases(API.get(run), "undone").contains("expand"));
  }

  @Test
  void theLookUpOfAnAliasFindsARowThatTheBackfillHasNotReached() {
    stopAtTheBeginning("ahead");

    Reply found = API.get("/v1/types/ahead/aliases/legacy/2900");

    assertThat(found.status()).isEqualTo(200);
    assertThat(found.text("/public_id/key")).isEqualTo(key("ahead", 2_900));
    assertProblem(API.get("/v1/types/ahead/aliases/legacy/3001"), "404 alias_unknown value");
  }

  /** Otherwise the legacy ID would have the public ID of another key for good. */
  @Test
  void aMintWithTheLegacyIdOfARowGetsTheKeyOfTheRow() {
    stopAtTheBeginning("minted");
    GATEWAY.execute("insert into minted (id) values (4000)");

    Reply one = API.mint("minted", "legacy_id", "2900");
    Reply batch =
        API.post(
            "/v1/ids/batch",
            json(
                "items",
                Stream.of("2901", "4000", "5000")
                    .map(legacy -> Map.of("type", "minted", "legacy_id", legacy))
                    .toList()));

    assertThat(one.status()).isEqualTo(200);
    assertThat(one.text("/key")).isEqualTo(key("minted", 2_900));
    assertThat(batch.text("/data/0/public_id/key")).isEqualTo(key("minted", 2_901));
    assertThat(batch.text("/data/1/public_id/key")).isEqualTo(key("minted", 4_000));
    assertThat(batch.body().at("/data/2/status").intValue()).as("no row has it").isEqualTo(201);
  }

  /** A run of a table of 3,000 rows, of which it has filled a few. */
  private static void stopAtTheBeginning(String table) {
    RUNS.table(table, 3_000);
    String run = Runs.path(RUNS.plan(table));
    set(run, json("rows_per_second_max", 10));
    RUNS.start(run);
    Awaitility.await().until(() -> API.get(run).body().at("/progress/rows_done").longValue() > 0);
    API.send("POST", run + "/pause", null);
  }

  private static String key(String table, int id) {
    return Long.toString(
        GATEWAY.count("select snowflake_id from %s where id = %d".formatted(table, id)));
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
    assertProblem(csv.post(file, "id\n1\n"), "400 request_invalid");
    assertProblem(
        API.post(Runs.PATH + "/" + planned.text("/id") + "/start", "{}"),
        "409 table_migration_state");
    assertProblem(
        csv.post(Runs.PATH + "/999999/import", "legacy_id\n1\n"), "404 table_migration_unknown id");
    API.send("POST", Runs.PATH + "/" + planned.text("/id") + "/cancel", null);
    assertProblem(csv.post(file, "legacy_id\n3\n"), "409 table_migration_state");
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
    assertProblem(keyed.post(file, "legacy_id\n2\n"), "422 idempotency_key_reused Idempotency-Key");
  }

  @Test
  void whatThePlanAsksForHasToBeAccepted() {
    RUNS.table("asking", 1);
    Reply planned = RUNS.plan("asking");
    String run = Runs.path(planned);
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
    assertProblem(refused, "409 preconditions_not_accepted");
    assertThat(refused.text("/preconditions/0/code")).isEqualTo("two");
    assertProblem(
        API.hostile().post(run + "/start", json("accept", List.of("No"))),
        "400 field_invalid accept");
    Reply started = API.post(run + "/start", json("accept", List.of("two", "one")));
    assertThat(started.status()).isEqualTo(202);
    assertThat(started.body().at("/accepted")).hasSize(2);
    assertProblem(API.post(run + "/start", "{}"), "409 table_migration_state");
    RUNS.await(Runs.path(planned), "done");
  }

  @Test
  void whatCantBeMigratedIsRefusedWithReasons() {
    RUNS.table("other", 1);
    API.put(TestType.of("uuids", "uu").uuids());
    API.put(TestType.of("shorter", "sho").with("layout", "42/9/12@1577836800000"));

    assertProblem(
        API.post(Runs.PATH, json("table", "other", "type", "nothing")), "404 type_unknown type");
    assertProblem(
        API.post(
            Runs.PATH, json("table", "other", "type", "other", "application_search_path", "a,,b")),
        "400 field_invalid application_search_path");
    assertProblem(
        API.post(Runs.PATH, json("table", "other", "type", "other", "source", "nowhere")),
        "404 source_unknown source");
    for (String type : List.of("uuids", "shorter")) {
      Reply unsuitable = API.post(Runs.PATH, json("table", "other", "type", type));
      assertProblem(unsuitable, "422 table_migration_refused");
      assertThat(unsuitable.text("/refusals/0/code")).isEqualTo("type_unsuitable");
      assertThat(unsuitable.text("/refusals/0/detail")).endsWith(".");
    }
    assertThat(API.get(Runs.PATH).body().at("/data").findValuesAsString("table"))
        .doesNotContain("public.other");
  }

  /** As after a restart of the gateway without the variable that names it. */
  @Test
  void aRunWhoseSourceIsNoLongerRegisteredSaysWhatToSet() {
    RUNS.table("stored", 1);
    String run = Runs.path(RUNS.plan("stored"));
    GATEWAY.execute(
        "update coatcheck.table_migration set source = 'cellar' where migration_id = "
            + run.substring(run.lastIndexOf('/') + 1));
    requireUnregistered(API.once().post(run + "/start", "{}"));

    GATEWAY.execute(
        "update coatcheck.table_migration set state = 'contracted', occupies = true"
            + " where source = 'cellar'");
    requireUnregistered(API.once().get(run + "/retirement?new_keys=none"));
    requireUnregistered(
        API.once().post(run + "/retire", json("confirm", "public.stored", "new_keys", "function")));
    GATEWAY.execute(
        "update coatcheck.table_migration set occupies = false where source = 'cellar'");
  }

  private static void requireUnregistered(Reply reply) {
    assertProblem(reply, "503 database_unavailable");
    assertThat(reply.text("/detail")).contains("cellar", "COATCHECK_SOURCE_CELLAR_URL");
  }

  @Test
  void aTableThatChangedSinceItsPlanIsNotStarted() {
    RUNS.table("changing", 1);
    Reply planned = RUNS.plan("changing");
    GATEWAY.execute("drop table public.changing");
    RUNS.table("changing", 1);

    Reply refused = API.post(Runs.PATH + "/" + planned.text("/id") + "/start", "{}");

    assertProblem(refused, "422 table_migration_refused");
    assertThat(refused.text("/refusals/0/code")).isEqualTo("table_changed");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "\\\"a", "a\\\"b", "a.\\\"b\\\".c", "a.", "\\\"\\\""})
  void aTableThatIsNoNameIsRefused(String table) {
    RUNS.type("names");

    Reply refused = API.post(Runs.PATH, json("table", table, "type", "names"));

    assertProblem(refused, "422 table_migration_refused");
    assertThat(refused.text("/refusals/0/code")).isEqualTo("table_malformed");
  }

  @Test
  void namesInQuotesAreTakenAsTheyAre() {
    RUNS.type("quoted");
    GATEWAY.execute("create schema \"My.Shop\"");
    GATEWAY.execute("create table \"My.Shop\".\"Some \"\"Orders\"\"\" (id bigserial primary key)");

    Reply planned =
        API.post(Runs.PATH, json("table", "\"My.Shop\".\"Some \"\"Orders\"\"\"", "type", "quoted"));

    assertThat(planned.status()).isEqualTo(201);
    assertThat(planned.text("/table")).isEqualTo("\"My.Shop\".\"Some \"\"Orders\"\"\"");
  }

  @Test
  void aRunThatIsntThereIsSaid() {
    for (String verb :
        List.of("pause", "resume", "retry", "cancel", "verify", "switch", "forget")) {
      assertProblem(
          API.send("POST", Runs.PATH + "/999/" + verb, null), "404 table_migration_unknown id");
    }
    for (String verb : List.of("start", "undo")) {
      assertProblem(API.post(Runs.PATH + "/999/" + verb, "{}"), "404 table_migration_unknown id");
    }
  }

  @Test
  void whatIsNoNumberOfARunIsUnknown() {
    for (String id : List.of("0", "-1", "x", "007", "9223372036854775808", "1e3")) {
      assertProblem(API.hostile().get(Runs.PATH + "/" + id), "404 table_migration_unknown id");
    }
    assertProblem(set(Runs.PATH + "/999", "{}"), "404 table_migration_unknown id");
  }

  @Test
  void whatDoesNotGoWithAPlannedRunIsSaid() {
    RUNS.table("waiting", 1);
    String run = Runs.path(RUNS.plan("waiting"));

    for (String verb : List.of("resume", "retry", "pause", "verify", "switch", "undo", "forget")) {
      Reply refused = API.send("POST", run + "/" + verb, verb.equals("undo") ? "{}" : null);

      assertProblem(refused, "409 table_migration_state");
      assertThat(refused.text("/detail")).startsWith("The run is planned. ");
    }
    API.send("POST", run + "/cancel", null);
    assertProblem(API.send("POST", run + "/cancel", null), "409 table_migration_state");
  }

  @Test
  void settingsKeepToTheirRanges() {
    RUNS.table("throttled", 1);
    String run = Runs.path(RUNS.plan("throttled"));

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
    "batch_millis, 19", "rows_per_second_max, 1000001",
    "rows_per_second_max, -1", "lock_waits_max, 86401",
    "wal_megabytes_per_second_max, 10000001", "slot_megabytes_max, -1",
    "vacuum_seconds_max, 86401", "latency_millis_max, 99999999999999999999"
  })
  void aThrottleSettingOutOfItsRangeIsRefused(String setting, String value) {
    assertProblem(
        API.hostile().send("PATCH", Runs.PATH + "/1", "{\"" + setting + "\":" + value + "}"),
        "422 throttle_out_of_range " + setting);
  }

  @Test
  void aThrottleSettingThatIsNoNumberIsMalformed() {
    for (String value : List.of("\"500\"", "1.5", "null", "true", "1e3")) {
      assertProblem(
          API.hostile().send("PATCH", Runs.PATH + "/1", "{\"batch_millis\":" + value + "}"),
          "400 field_invalid batch_millis");
    }
  }

  @Test
  void whatIsOddAboutARequestIsSaid() {
    TestClient hostile = API.hostile();
    RUNS.type("odd");
    assertProblem(hostile.post(Runs.PATH, json("type", "odd")), "400 field_missing table");
    assertProblem(
        hostile.post(Runs.PATH, json("table", "odd", "type", "odd", "rows", 1)),
        "400 field_unknown rows");
    assertProblem(
        hostile.post(Runs.PATH + "/1/undo", json("phase", "verify")), "400 field_invalid phase");
    assertThat(hostile.post(Runs.PATH + "/1/undo", json("phase", "verify")).text("/detail"))
        .contains("expand, backfill, index, not_null, children, prepare_switch, switch, contract.");
    assertProblem(hostile.post(Runs.PATH + "/1/start", "[]"), "400 json_malformed");
    assertProblem(hostile.get(Runs.PATH + "?state=done"), "400 parameter_unknown state");
    assertProblem(
        hostile.send("POST", Runs.PATH + "/1/pause?now=1", null), "400 parameter_unknown now");
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
