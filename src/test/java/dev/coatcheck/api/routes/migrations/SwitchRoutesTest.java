package dev.coatcheck.api.routes.migrations;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.api.routes.TestClient.Reply;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The switch of the primary key over HTTP, and its time window. */
class SwitchRoutesTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.own();
  private static final TestClient API = GATEWAY.client();
  private static final Runs RUNS = Runs.of(GATEWAY);

  private static final String PAST = "2026-01-31T12:00:00Z";
  private static final String FUTURE = "9000-01-31T12:00:00Z";

  @Test
  void thePrimaryKeyMovesAndMovesBack() {
    RUNS.table("orders", 100);
    GATEWAY
        .sql()
        .execute(
            "create table public.item (id bigserial primary key,"
                + " order_id bigint references public.orders)",
            "insert into public.item (order_id) select 1 from generate_series(1, 3)");
    Reply planned = RUNS.plan("orders");
    assertThat(planned.text("/plan/children/0/table")).isEqualTo("public.item");
    assertThat(planned.text("/plan/children/0/column")).isEqualTo("order_id");
    assertThat(planned.text("/plan/children/0/twin")).isEqualTo("order_id_snowflake_id");
    String run = done(planned);

    Reply switching = API.send("POST", run + "/switch", null);

    assertThat(switching.status()).isEqualTo(202);
    assertThat(switching.text("/goal")).isEqualTo("switch");
    assertThat(switching.body().at("/switch_not_before").isNull()).isTrue();
    assertThat(switching.body().at("/switch_not_after").isNull()).isTrue();
    Reply switched = RUNS.await(run, "done");
    assertThat(states(switched, "switch")).containsOnly("verified");
    assertThat(details(run, "step_applied"))
        .anyMatch(locked("expand dual-write"))
        .anyMatch(locked("switch primary-key"))
        .contains("expand prepare", "switch new-pk");
    assertThat(primaryKey("orders")).isEqualTo("snowflake_id");
    assertThat(API.get("/v1/legacy/orders/1").status()).isEqualTo(200);

    Reply undoing = API.post(run + "/undo", json("phase", "switch"));

    assertThat(undoing.status()).isEqualTo(202);
    assertThat(undoing.text("/undo_phase")).isEqualTo("switch");
    Reply back = RUNS.await(run, "done");
    assertThat(states(back, "switch")).containsOnly("undone");
    assertThat(details(run, "step_undone")).anyMatch(locked("switch primary-key"));
    assertThat(states(back, "prepare_switch")).containsOnly("verified");
    assertThat(primaryKey("orders")).isEqualTo("id");
    assertThat(API.post(run + "/switch", "{}").status()).isEqualTo(202);
    RUNS.await(run, "done");
    assertThat(primaryKey("orders")).isEqualTo("snowflake_id");
  }

  @Test
  void aRunThatKeepsItsPrimaryKeyIsNotSwitched() {
    RUNS.table("keeping", 10);
    Reply planned =
        API.post(Runs.PATH, json("table", "keeping", "type", "keeping", "keep_primary_key", true));
    assertThat(planned.body().at("/plan/steps").findValuesAsString("phase"))
        .doesNotContain("prepare_switch", "switch");
    String run = done(planned);

    Reply refused = API.post(run + "/switch", "{}");

    assertProblem(refused, 409, "table_migration_state", null);
    assertThat(refused.text("/detail")).contains("planned to keep the primary key");
    assertThat(states(API.get(run), "switch")).isEmpty();
    assertThat(primaryKey("keeping")).isEqualTo("id");
  }

  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          2026-11-22T04:00:00Z, 2026-11-22T02:00:00Z, not_after
          2026-11-22T02:00:00Z, 2026-11-22T02:00:00Z, not_after
          2026-11-22T02:00:00Z, 2026-11-22T03:00:00+02:00, not_after
          tomorrow, 2026-11-22T02:00:00Z, not_before
          1969-12-31T23:59:59Z, 2026-11-22T02:00:00Z, not_before
          2026-11-22T02:00:00Z, 2026-11-22, not_after
          """)
  void aWindowThatIsNoneIsRefused(String notBefore, String notAfter, String parameter) {
    assertProblem(
        API.hostile()
            .post(Runs.PATH + "/1/switch", json("not_before", notBefore, "not_after", notAfter)),
        400,
        "field_invalid",
        parameter);
  }

  @Test
  void whatIsOddAboutASwitchIsSaid() {
    TestClient hostile = API.hostile();

    assertProblem(
        hostile.post(Runs.PATH + "/1/switch", json("not_before", 1)),
        400,
        "field_invalid",
        "not_before");
    assertProblem(
        hostile.post(Runs.PATH + "/1/switch", json("at", FUTURE)), 400, "field_unknown", "at");
    assertProblem(
        hostile.send("POST", Runs.PATH + "/1/switch?now=1", null), 400, "parameter_unknown", null);
  }

  /** As people need who come too late: they read why, and the table is as it was. */
  @Test
  void aWindowThatIsOverPostponesTheSwitch() {
    RUNS.table("late", 10);
    String run = done(RUNS.plan("late"));

    assertThat(API.post(run + "/switch", json("not_after", PAST)).status()).isEqualTo(202);

    Reply postponed = RUNS.await(run, "done");
    assertThat(Instant.parse(postponed.text("/switch_not_after"))).isEqualTo(Instant.parse(PAST));
    assertThat(states(postponed, "switch")).contains("pending").doesNotContain("undone");
    assertThat(events(run)).containsKey("postponed").doesNotContainKey("switched");
    assertThat(events(run).get("postponed")).contains("the primary key is where it was");
    assertThat(primaryKey("late")).isEqualTo("id");
  }

  @Test
  void aSwitchWaitsForItsWindowAndIsPausedResumedAndUndoneMeanwhile() {
    RUNS.table("early", 10);
    String run = done(RUNS.plan("early"));
    String window = json("not_before", FUTURE, "not_after", null);

    assertThat(API.post(run + "/switch", window).status()).isEqualTo(202);
    awaitWindow(run);
    assertThat(Instant.parse(API.get(run).text("/switch_not_before")))
        .isEqualTo(Instant.parse(FUTURE));
    assertThat(events(run).get("waiting")).contains("opens at " + FUTURE);
    assertProblem(API.post(run + "/switch", "{}"), 409, "table_migration_state", null);

    assertThat(API.send("POST", run + "/pause", null).text("/state")).isEqualTo("paused");
    Reply resumed = API.send("POST", run + "/resume", null);
    assertThat(resumed.text("/goal")).isEqualTo("switch");
    awaitWindow(run);
    assertThat(states(API.get(run), "prepare_switch")).containsOnly("verified");
    assertThat(states(API.get(run), "switch"))
        .as("the index for the primary key is built, and nothing else")
        .startsWith("verified")
        .containsOnlyOnce("verified")
        .containsOnly("verified", "pending");

    Reply undoing = API.post(run + "/undo", json("phase", "prepare_switch"));
    assertThat(undoing.text("/undo_phase")).isEqualTo("prepare_switch");
    Reply back = RUNS.await(run, "done");
    assertThat(states(back, "prepare_switch")).containsOnly("undone");
    assertThat(primaryKey("early")).isEqualTo("id");
    assertThat(
            GATEWAY.count(
                "select count(*) from pg_index where indrelid = 'public.early'::regclass"))
        .as("the primary key and the unique index of the new keys")
        .isEqualTo(2);
  }

  @Test
  void aRepeatedSwitchIsAnsweredOnceAndMovesTheKeyOnce() {
    RUNS.table("repeated", 10);
    String run = done(RUNS.plan("repeated"));
    TestClient keyed = API.with("Idempotency-Key", "switch-1");

    Reply first = keyed.post(run + "/switch", "{}");
    RUNS.await(run, "done");
    API.post(run + "/undo", json("phase", "switch"));
    RUNS.await(run, "done");
    Reply again = keyed.post(run + "/switch", "{}");

    assertThat(first.status()).isEqualTo(202);
    assertThat(again.status()).isEqualTo(202);
    assertThat(again.headers()).containsEntry("idempotent-replayed", List.of("true"));
    assertThat(again.body()).isEqualTo(first.body());
    assertThat(API.get(run).text("/state")).isEqualTo("done");
    assertThat(primaryKey("repeated")).isEqualTo("id");
    assertProblem(
        keyed.post(run + "/switch", json("not_before", FUTURE)),
        422,
        "idempotency_key_reused",
        "Idempotency-Key");
  }

  private static String done(Reply planned) {
    String run = Runs.path(planned);
    assertThat(RUNS.start(run).status()).isEqualTo(202);
    RUNS.await(run, "done");
    return run;
  }

  private static void awaitWindow(String run) {
    Awaitility.await()
        .until(
            () -> API.get(run).body().at("/reason").asString(""),
            why -> why.contains("opens at " + FUTURE));
  }

  /** The last event of each kind. */
  private static Map<String, String> events(String run) {
    return API.get(run + "/events")
        .body()
        .at("/data")
        .valueStream()
        .collect(
            Collectors.toMap(
                event -> event.path("kind").asString(),
                event -> event.path("detail").asString(),
                (_, last) -> last));
  }

  /** How an event of a step tells for how long it kept writers out. */
  private static Predicate<String> locked(String step) {
    return Pattern.compile(
            step + ": waited [0-9]+ ms for its locks and held them for [1-9][0-9]* ms")
        .asMatchPredicate();
  }

  private static List<String> details(String run, String kind) {
    return API.get(run + "/events")
        .body()
        .at("/data")
        .valueStream()
        .filter(event -> event.path("kind").asString().equals(kind))
        .map(event -> event.path("detail").asString())
        .toList();
  }

  private static List<String> states(Reply run, String phase) {
    return run.body()
        .at("/steps")
        .valueStream()
        .filter(step -> step.path("phase").asString().equals(phase))
        .map(step -> step.path("state").asString())
        .toList();
  }

  private static String primaryKey(String table) {
    return GATEWAY
        .sql()
        .texts(
            "select a.attname from pg_index i join pg_attribute a on a.attrelid = i.indrelid"
                + " and a.attnum = any (i.indkey) where i.indisprimary"
                + " and i.indrelid = 'public.%s'::regclass".formatted(table))
        .getFirst();
  }
}
