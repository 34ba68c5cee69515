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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The last phase over HTTP: what uses the old columns, and how they go. */
class ContractRoutesTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.own();
  private static final TestClient API = GATEWAY.client();
  private static final Runs RUNS = Runs.of(GATEWAY);

  @Test
  void oldLinksGoOnWorkingWhenTheColumnIsGone() {
    RUNS.table("orders", 100);
    String run = switched("orders");
    String before = API.get("/v1/legacy/orders/7").text("/id");
    // The triggers have not delivered it when the column goes, or a look-up comes first.
    GATEWAY.sql().execute("insert into public.orders select from generate_series(1, 20)");

    Reply contracting = contract(run, "public.orders", List.of("old_column"));

    assertThat(contracting.status()).isEqualTo(202);
    assertThat(contracting.text("/goal")).isEqualTo("contract");
    Reply done = RUNS.await(run, "contracted");
    assertThat(done.body().at("/ended_at").isNull()).isFalse();
    assertThat(API.get("/v1/legacy/orders/7").text("/id")).isEqualTo(before);
    assertThat(API.get("/v1/legacy/orders/120").status()).isEqualTo(200);
    assertThat(API.hostile().get("/v1/legacy/orders/121").status()).isEqualTo(404);
    assertThat(
            GATEWAY.count(
                "select count(*) from information_schema.columns"
                    + " where table_name = 'orders' and column_name = 'id'"))
        .isZero();
    for (String action : List.of("/undo", "/switch")) {
      assertProblem(API.post(run + action, "{}"), 409, "table_migration_state", null);
    }
    for (String action : List.of("/verify", "/pause", "/resume", "/retry", "/cancel", "/forget")) {
      assertProblem(API.send("POST", run + action, null), 409, "table_migration_state", null);
    }
    assertProblem(contract(run, "public.orders", List.of()), 409, "table_migration_state", null);
    assertProblem(API.get(run + "/old-columns"), 409, "table_migration_state", null);
  }

  /** From the backfill on; before, the number is that of a row without a key. */
  @Test
  void aLegacyIdInAUrlLeadsToItsRowInEveryPhase() {
    RUNS.table("bill", 30);
    API.put(
        TestType.of("bill", "bill")
            .with("legacy", Map.of())
            .with("url_templates", List.of("/bills/{legacy:bill}")));
    String run = done("bill");
    String key = GATEWAY.sql().text("select snowflake_id from public.bill where id = 7");
    String publicUrl = requireResolved("/bills/7", "/bills/" + key);
    API.post(run + "/switch", "{}");
    RUNS.await(run, "done");
    assertThat(requireResolved("/bills/7", "/bills/" + key)).isEqualTo(publicUrl);

    assertThat(contract(run, "public.bill", List.of("old_column")).status()).isEqualTo(202);
    RUNS.await(run, "contracted");

    assertThat(requireResolved("/bills/7", "/bills/" + key)).isEqualTo(publicUrl);
    assertThat(requireResolved(publicUrl, "/bills/" + key)).isEqualTo(publicUrl);
    assertThat(GATEWAY.count("select count(*) from public.bill where snowflake_id = " + key))
        .isEqualTo(1);
  }

  /** Returns the URL with the public ID. */
  private static String requireResolved(String url, String expected) {
    Reply reply = API.get("/v1/urls/resolve?url=" + url);
    assertThat(reply.text("/resolved")).isEqualTo(expected);
    return reply.body().at("/public_url").asString(url);
  }

  @Test
  void aContractIsConfirmedByTheNameOfTheTableAndByEachCode() {
    RUNS.table("typed", 10);
    String run = done("typed");
    assertProblem(contract(run, "public.typed", List.of()), 409, "table_migration_state", null);
    assertProblem(API.get(run + "/old-columns"), 409, "table_migration_state", null);
    API.post(run + "/switch", "{}");
    RUNS.await(run, "done");

    assertProblem(contract(run, "typed", List.of("old_column")), 400, "field_invalid", "confirm");
    assertProblem(
        API.hostile().post(run + "/contract", json("accept", List.of())),
        400,
        "field_missing",
        "confirm");
    assertProblem(
        API.hostile()
            .post(run + "/contract", json("confirm", "public.typed", "accept", List.of("A b"))),
        400,
        "field_invalid",
        "accept");
    Reply refused = contract(run, "public.typed", List.of());
    assertProblem(refused, 409, "preconditions_not_accepted", null);
    assertThat(refused.text("/preconditions/0/code")).isEqualTo("old_column");
    assertThat(refused.text("/preconditions/0/detail"))
        .contains("pg_stat_statements is not installed");
    assertThat(API.get(run).text("/state")).isEqualTo("done");
    assertThat(API.get(Runs.PATH + "/4711/old-columns").status()).isEqualTo(404);
    assertThat(contract(Runs.PATH + "/4711", "public.typed", List.of()).status()).isEqualTo(404);
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
    String run = switched("needed");

    Reply found = API.get(run + "/old-columns");
    Reply refused = contract(run, "public.needed", List.of("old_column"));

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
    assertProblem(refused, 422, "table_migration_refused", null);
    assertThat(refused.text("/refusals/0/code")).isEqualTo("old_column_needed");
    assertThat(refused.text("/refusals/3/detail")).contains("the primary key public.line_pkey");
    assertThat(API.get(run).text("/state")).isEqualTo("done");
  }

  private static Reply contract(String run, String table, List<String> accepted) {
    return API.post(run + "/contract", json("confirm", table, "accept", accepted));
  }

  private static String switched(String table) {
    String run = done(table);
    assertThat(API.post(run + "/switch", "{}").status()).isEqualTo(202);
    RUNS.await(run, "done");
    return run;
  }

  private static String done(String table) {
    String run = Runs.path(RUNS.plan(table));
    assertThat(RUNS.start(run).status()).isEqualTo(202);
    RUNS.await(run, "done");
    return run;
  }
}
