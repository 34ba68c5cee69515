package dev.coatcheck.api.routes.migrations;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestSession;
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

/** The switch of the primary key over HTTP, its time window, and the end of the old columns. */
class SwitchRoutesTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.own();
  private static final TestClient API = GATEWAY.client();
  private static final Runs RUNS = Runs.of(GATEWAY);

  private static final String PAST = "2026-01-31T12:00:00Z";
  private static final String FUTURE = "9000-01-31T12:00:00Z";

  /** One table in all phases: a legacy ID leads to its row in each, whether in a URL or not. */
  @Test
  void thePrimaryKeyMovesMovesBackAndAtLastTheOldColumnGoes() {
    RUNS.table("orders", 100);
    API.put(
        TestType.of("orders", "orders")
            .with("legacy", Map.of())
            .with("url_templates", List.of("/orders/{legacy:orders}")));
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
    String key = GATEWAY.sql().text("select snowflake_id from public.orders where id = 7");
    String publicUrl = requireResolved("/orders/7", "/orders/" + key);
    assertProblem(contract(run, "public.orders", List.of()), "409 table_migration_state");
    assertProblem(API.get(run + "/old-columns"), "409 table_migration_state");

    isRefusedIfItsWindowIsOver(run);
    isPostponedIfItsWindowClosesMeanwhile(run);
    movesAndMovesBackOnceForEachIdempotencyKey(run);
    assertThat(API.send("POST", run + "/switch", null).status()).isEqualTo(202);
    RUNS.await(run, "done");
    assertThat(primaryKey("orders")).isEqualTo("snowflake_id");
    assertThat(requireResolved("/orders/7", "/orders/" + key)).isEqualTo(publicUrl);

    isContractedOnceThatIsConfirmed(run);
    assertThat(requireResolved("/orders/7", "/orders/" + key)).isEqualTo(publicUrl);
    assertThat(requireResolved(publicUrl, "/orders/" + key)).isEqualTo(publicUrl);
    assertThat(GATEWAY.count("select count(*) from public.orders where snowflake_id = " + key))
        .isEqualTo(1);
  }

  /** Both ways, a time of the database says nothing about the clock of a gateway. */
  @ParameterizedTest
  @CsvSource({"fresh,  0 hours,  false", "old,   -2 hours,  true", "ahead, 26 hours,  true"})
  void aVerificationCountsForAnHourOfTheClockThatDatesIt(
      String table, String later, boolean isRepeated) {
    RUNS.table(table, 10);
    String run = done(RUNS.plan(table));
    GATEWAY.execute(
        """
        update coatcheck.table_migration_step set changed_at = changed_at + interval '%s'
         where phase = 'verify' and migration_id =
           (select migration_id from coatcheck.table_migration where table_name = '%s')\
        """
            .formatted(later, table));

    assertThat(API.send("POST", run + "/switch", null).status()).isEqualTo(202);
    RUNS.await(run, "done");

    assertThat(primaryKey(table)).isEqualTo("snowflake_id");
    assertThat(events(run).containsKey("verified")).isEqualTo(isRepeated);
  }

  /** Before any index is built for it. */
  private static void isRefusedIfItsWindowIsOver(String run) {
    Reply late = API.post(run + "/switch", json("not_after", PAST));

    assertProblem(late, "409 table_migration_state");
    assertThat(late.text("/detail")).contains("The time window is over").contains(PAST);
    assertThat(states(API.get(run), "prepare_switch")).containsOnly("pending");
  }

  /** Its indexes wait for a writer until the window has closed. */
  private static void isPostponedIfItsWindowClosesMeanwhile(String run) {
    Instant closes = Instant.now().plusSeconds(2);
    try (TestSession writer = GATEWAY.sql().begin("delete from public.orders where id = 99")) {
      assertThat(API.post(run + "/switch", json("not_after", closes.toString())).status())
          .isEqualTo(202);
      Awaitility.await().until(() -> Instant.now().isAfter(closes));
      writer.commit();
    }

    Reply postponed = RUNS.await(run, "done");
    assertThat(states(postponed, "switch")).contains("pending").doesNotContain("undone");
    assertThat(events(run)).containsKey("postponed").doesNotContainKey("switched");
    assertThat(events(run).get("postponed")).contains("the primary key is where it was");
    assertThat(primaryKey("orders")).isEqualTo("id");
  }

  private static void movesAndMovesBackOnceForEachIdempotencyKey(String run) {
    TestClient keyed = API.with("Idempotency-Key", "switch-1");
    Reply switching = keyed.post(run + "/switch", "{}");

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

    Reply again = keyed.post(run + "/switch", "{}");
    assertThat(again.status()).isEqualTo(202);
    assertThat(again.headers()).containsEntry("idempotent-replayed", List.of("true"));
    assertThat(again.body()).isEqualTo(switching.body());
    assertThat(API.get(run).text("/state")).isEqualTo("done");
    assertThat(primaryKey("orders")).isEqualTo("id");
    assertProblem(
        keyed.post(run + "/switch", json("not_before", FUTURE)),
        "422 idempotency_key_reused Idempotency-Key");
  }

  private static void isContractedOnceThatIsConfirmed(String run) {
    assertProblem(contract(run, "orders", List.of("old_column")), "400 field_invalid confirm");
    TestClient hostile = API.hostile();
    assertProblem(
        hostile.post(run + "/contract", json("accept", List.of())), "400 field_missing confirm");
    assertProblem(
        hostile.post(run + "/contract", json("confirm", "public.orders", "accept", List.of("A b"))),
        "400 field_invalid accept");
    Reply refused = contract(run, "public.orders", List.of());
    assertProblem(refused, "409 preconditions_not_accepted");
    assertThat(refused.text("/preconditions/0/code")).isEqualTo("old_column");
    assertThat(refused.text("/preconditions/0/detail"))
        .contains("pg_stat_statements is not installed");
    assertThat(API.get(run).text("/state")).isEqualTo("done");
    assertThat(API.get(Runs.PATH + "/4711/old-columns").status()).isEqualTo(404);
    assertThat(contract(Runs.PATH + "/4711", "public.orders", List.of()).status()).isEqualTo(404);
    // The triggers have not delivered it when the column goes, or a look-up comes first.
    GATEWAY.sql().execute("insert into public.orders select from generate_series(1, 20)");

    Reply contracting = contract(run, "public.orders", List.of("old_column"));

    assertThat(contracting.status()).isEqualTo(202);
    assertThat(contracting.text("/goal")).isEqualTo("contract");
    Reply done = RUNS.await(run, "contracted");
    assertThat(done.body().at("/ended_at").isNull()).isFalse();
    assertThat(API.get("/v1/legacy/orders/120").status()).isEqualTo(200);
    assertThat(API.hostile().get("/v1/legacy/orders/121").status()).isEqualTo(404);
    assertThat(
            GATEWAY.count(
                "select count(*) from information_schema.columns"
                    + " where table_name = 'orders' and column_name = 'id'"))
        .isZero();
    for (String action : List.of("/undo", "/switch")) {
      assertProblem(API.post(run + action, "{}"), "409 table_migration_state");
    }
    for (String action : List.of("/pause", "/resume", "/retry", "/cancel", "/forget")) {
      assertProblem(API.send("POST", run + action, null), "409 table_migration_state");
    }
    assertProblem(contract(run, "public.orders", List.of()), "409 table_migration_state");
    assertProblem(API.get(run + "/old-columns"), "409 table_migration_state");
    assertThat(API.send("POST", run + "/verify", null).status()).isEqualTo(202);
    assertThat(RUNS.await(run, "contracted").body().at("/report/clean").booleanValue()).isTrue();
    requireRetired(run);
  }

  private static void requireRetired(String run) {
    assertProblem(
        API.hostile().get(run + "/retirement?new_keys=identity"), "400 parameter_invalid new_keys");
    assertProblem(API.hostile().get(run + "/retirement"), "400 parameter_invalid new_keys");
    Reply plan = API.get(run + "/retirement?new_keys=function");
    assertThat(plan.text("/table")).isEqualTo("public.orders");
    assertThat(plan.text("/consequences/0")).contains("no mapping by themselves");
    assertProblem(
        API.hostile().post(run + "/retire", json("confirm", "public.orders", "new_keys", "x")),
        "400 field_invalid new_keys");
    assertProblem(
        API.post(run + "/retire", json("confirm", "public.other", "new_keys", "none")),
        "400 field_invalid confirm");

    TestClient keyed = API.with("Idempotency-Key", "retire-1");
    String function = json("confirm", "public.orders", "new_keys", "function");
    String none = json("confirm", "public.orders", "new_keys", "none");
    Reply retired = keyed.post(run + "/retire", function);

    assertThat(retired.text("/state")).isEqualTo("contracted");
    assertThat(keyed.post(run + "/retire", function).body()).isEqualTo(retired.body());
    assertProblem(keyed.post(run + "/retire", none), "422 idempotency_key_reused Idempotency-Key");
    assertProblem(API.post(run + "/retire", none), "409 table_migration_state");
    assertThat(states(retired, "expand")).containsOnly("undone");
    assertProblem(API.get(run + "/retirement?new_keys=none"), "409 table_migration_state");
    assertProblem(API.send("POST", run + "/verify", null), "409 table_migration_state");
    long key =
        GATEWAY.sql().number("insert into public.orders default values returning snowflake_id");
    assertThat(API.mint("orders", "key", Long.toString(key)).status()).isEqualTo(201);
    assertThat(API.get("/v1/legacy/orders/120").status()).isEqualTo(200);
    assertThat(API.send("POST", run + "/forget", null).status()).isEqualTo(200);
    assertThat(API.get("/v1/legacy/orders/120").status()).isEqualTo(200);
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

    assertProblem(refused, "409 table_migration_state");
    assertThat(refused.text("/detail")).contains("planned to keep the primary key");
    assertThat(states(API.get(run), "switch")).isEmpty();
    assertThat(primaryKey("keeping")).isEqualTo("id");
  }

  @Test
  void whatNeedsTheOldColumnIsNamedAndKeepsIt() {
    RUNS.table("needed", 10);
    GATEWAY
        .sql()
        .execute(
            "create table public.line (needed_id bigint references public.needed, n int,"
                + " note text, primary key (needed_id, n), constraint small check (n < needed_id))",
            "create index by_need on public.line (needed_id)",
            "create index by_note on public.line (needed_id, note)",
            "create unique index first on public.line (needed_id) where n = 1",
            "create view public.recent as select id from public.needed");
    String run = done(RUNS.plan("needed"));
    assertThat(API.post(run + "/switch", "{}").status()).isEqualTo(202);
    RUNS.await(run, "done");

    Reply found = API.get(run + "/old-columns");
    List<String> asked = found.body().path("preconditions").findValuesAsString("code");
    Reply refused = contract(run, "public.needed", asked);

    assertThat(asked).containsExactly("old_column");
    assertThat(found.status()).isEqualTo(200);
    assertThat(found.body().at("/dependents").valueStream().map(one -> one.asString()))
        .as("all but the index that the new column has too")
        .containsExactly(
            "the check small",
            "the index public.by_note",
            "the index public.first",
            "the primary key public.line_pkey",
            "the view public.recent");
    assertThat(found.body().at("/columns").valueStream().map(one -> one.asString()))
        .containsExactly("public.needed.id", "public.line.needed_id");
    assertProblem(refused, "422 table_migration_refused");
    assertThat(refused.text("/refusals/0/code")).isEqualTo("old_column_needed");
    assertThat(refused.text("/refusals/3/detail")).contains("the primary key public.line_pkey");
    assertThat(API.get(run).text("/state")).isEqualTo("done");
  }

  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          2026-11-22T02:00:00Z, 2026-11-22T02:00:00Z, not_after
          2026-11-22T02:00:00Z, 2026-11-22T03:00:00+02:00, not_after
          tomorrow, 2026-11-22T02:00:00Z, not_before
          1969-12-31T23:59:59Z, 2026-11-22T02:00:00Z, not_before
          """)
  void aWindowThatIsNoneIsRefused(String notBefore, String notAfter, String parameter) {
    assertProblem(
        API.hostile()
            .post(Runs.PATH + "/1/switch", json("not_before", notBefore, "not_after", notAfter)),
        "400 field_invalid " + parameter);
  }

  @Test
  void whatIsOddAboutASwitchIsSaid() {
    TestClient hostile = API.hostile();

    assertProblem(
        hostile.post(Runs.PATH + "/1/switch", json("not_before", 1)),
        "400 field_invalid not_before");
    assertProblem(
        hostile.post(Runs.PATH + "/1/switch", json("at", FUTURE)), "400 field_unknown at");
    assertProblem(
        hostile.send("POST", Runs.PATH + "/1/switch?now=1", null), "400 parameter_unknown now");
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
    assertProblem(API.post(run + "/switch", "{}"), "409 table_migration_state");

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

  /** Returns the URL with the public ID. */
  private static String requireResolved(String url, String expected) {
    Reply reply = API.get("/v1/urls/resolve?url=" + url);
    assertThat(reply.text("/resolved")).isEqualTo(expected);
    return reply.body().at("/public_url").asString(url);
  }

  private static Reply contract(String run, String table, List<String> accepted) {
    return API.post(run + "/contract", json("confirm", table, "accept", accepted));
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
