package dev.coatcheck.app.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.migrate.run.ActionOutcome;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.PlanOutcome;
import dev.coatcheck.migrate.run.PlanRequest;
import dev.coatcheck.migrate.run.RunEvent;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.run.TableMigrations;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.migrate.steps.RekeyFixture;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The gateway that carries a run stands still for a minute; another one takes over; the first one
 * wakes up in the middle of what it was doing.
 */
@Tag("faults")
class FrozenRunnerTest {
  private static final String ACTOR = "tester";
  private static final int ROWS = 3_000;
  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final long FROZEN_SECONDS = 60;

  private final List<GatewayChild> gateways = new ArrayList<>();

  @Test
  void nothingIsDoneTwiceOrLostWhenItSleptInTheBackfill() throws Exception {
    try (RekeyFixture fixture = fixture();
        Sources sources = Sources.open(fixture.settings, Map.of(), fixture.gateway.observer)) {
      TableMigrations desk = desk(fixture, sources);
      long id = start(desk, fixture, 20);
      serve(fixture);
      await(() -> run(desk, id).progress().rowsDone() > 0);

      GatewayChild sleeper = freezeRunner(fixture);
      long fence = fence(fixture);
      await(() -> fence(fixture) > fence);
      long taken = run(desk, id).progress().rowsDone();
      await(() -> run(desk, id).progress().rowsDone() > taken);
      sleepOut();
      assertThat(run(desk, id).status().state()).isEqualTo(RunState.RUNNING);
      sleeper.thaw();
      set(desk, id, 0);

      requireDone(fixture, desk, id);
    } finally {
      gateways.forEach(GatewayChild::kill);
    }
  }

  /** Its statement goes on at the server while it sleeps; the other one ends it and builds anew. */
  @Test
  void nothingIsDoneTwiceOrLostWhenItSleptWhileAnIndexWasBuilt() throws Exception {
    try (RekeyFixture fixture = fixture();
        Sources sources = Sources.open(fixture.settings, Map.of(), fixture.gateway.observer);
        Connection report = fixture.connect();
        Statement reading = report.createStatement()) {
      TableMigrations desk = desk(fixture, sources);
      report.setAutoCommit(false);
      report.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      reading.execute("select count(*) from pg_class");
      long id = start(desk, fixture, 0);
      serve(fixture);
      await(() -> !builders(fixture).isEmpty());
      long first = builders(fixture).getFirst();

      GatewayChild sleeper = freezeRunner(fixture);
      await(() -> builders(fixture).stream().anyMatch(pid -> pid != first));
      assertThat(builders(fixture)).as("the first one was ended before").doesNotContain(first);
      sleepOut();
      sleeper.thaw();
      report.commit();

      requireDone(fixture, desk, id);
    } finally {
      gateways.forEach(GatewayChild::kill);
    }
  }

  private static RekeyFixture fixture() {
    RekeyFixture fixture = new RekeyFixture(true);
    fixture.execute(
        "create table orders (id bigserial primary key, created_at timestamptz default now())",
        "insert into orders (created_at) select now() - make_interval(secs => 20000 - n)"
            + " from generate_series(1, "
            + ROWS
            + ") n");
    return fixture;
  }

  private void serve(RekeyFixture fixture) throws Exception {
    gateways.add(GatewayChild.serve(fixture.gateway.on));
    gateways.add(GatewayChild.serve(fixture.gateway.on));
  }

  private GatewayChild freezeRunner(RekeyFixture fixture) throws Exception {
    long pid =
        fixture.count(
            "select substring(holder from '[0-9]+$') from coatcheck.table_migration limit 1");
    GatewayChild runner =
        gateways.stream().filter(gateway -> gateway.pid() == pid).findFirst().orElseThrow();
    runner.freeze();
    return runner;
  }

  /** The fault itself: time in which the process doesn't run. */
  private static void sleepOut() throws InterruptedException {
    var _ = new CountDownLatch(1).await(FROZEN_SECONDS, TimeUnit.SECONDS);
  }

  private static void requireDone(RekeyFixture fixture, TableMigrations desk, long id) {
    await(() -> run(desk, id).status().state() != RunState.RUNNING);
    assertThat(run(desk, id).status().state())
        .as("%s", run(desk, id).status())
        .isEqualTo(RunState.DONE);
    assertThat(run(desk, id).progress().rowsDone()).isEqualTo(ROWS);
    List<RunEvent> events = desk.events(id, 0);
    assertThat(events.stream().filter(event -> event.kind().equals("step_applied")))
        .extracting(RunEvent::detail)
        .doesNotHaveDuplicates();
    assertThat(events).noneMatch(event -> event.kind().equals("failed"));
    // The next thousand rows are as right as those before.
    fixture.execute("insert into orders select from generate_series(1, 1000)");
    await(() -> fixture.outbox(run(desk, id).target()).lag().entries() == 0);
    assertThat(
            fixture.column(
                """
                select o.id from orders o
                  left join coatcheck.alias a on a.scheme = 'legacy' and a.value = o.id::text
                  left join coatcheck.public_id p on p.token = a.token
                 where o.snowflake_id is null or p.key is distinct from o.snowflake_id
                """))
        .isEmpty();
    assertThat(
            fixture.column(
                """
                select id from (
                  select id, snowflake_id <= lag(snowflake_id) over (order by id) as wrong
                    from orders) as o
                 where wrong
                """))
        .isEmpty();
    assertThat(fixture.count("select count(*) from coatcheck.public_id")).isEqualTo(ROWS + 1_000);
    assertThat(fixture.count("select count(*) from coatcheck.alias")).isEqualTo(ROWS + 1_000);
    assertThat(
            fixture.column(
                "select indexrelid::oid from pg_index"
                    + " where indrelid = 'orders'::regclass and not indisvalid"))
        .isEmpty();
  }

  private static List<Long> builders(RekeyFixture fixture) {
    return fixture.column(
        "select pid from pg_stat_progress_create_index where datname = current_database()");
  }

  private static long fence(RekeyFixture fixture) {
    return fixture.count("select fence from coatcheck_migration.checkpoint");
  }

  /** Takes orders and does no work: that is left to the gateways. */
  private static TableMigrations desk(RekeyFixture fixture, Sources sources) {
    TableMigrations migrations =
        TableMigrations.start(
            fixture.gateway.database,
            sources,
            fixture.gateway.registry,
            MappingFixture.TOKENS,
            fixture.gateway.observer,
            "desk");
    migrations.close();
    return migrations;
  }

  private static long start(TableMigrations desk, RekeyFixture fixture, int rowsPerSecondMax) {
    IdempotentResult<PlanOutcome> result =
        desk.plan(
            new PlanRequest(
                Sources.GATEWAY,
                "public",
                "orders",
                fixture.type,
                Optional.of("created_at"),
                false),
            TableMigrations.Asked.by(ACTOR));
    if (!(result
        instanceof
        IdempotentResult.Unkeyed<PlanOutcome>(PlanOutcome.Planned(TableMigration.Whole whole)))) {
      throw new AssertionError(result);
    }
    TableMigration run = whole.run();
    set(desk, run.id(), rowsPerSecondMax);
    requireAccepted(
        desk.start(
            run.id(),
            run.plan().preconditions().stream().map(one -> one.code()).toList(),
            TableMigrations.Asked.by(ACTOR)));
    return run.id();
  }

  private static void set(TableMigrations desk, long id, int rowsPerSecondMax) {
    requireAccepted(
        desk.set(
            id,
            throttleSettings -> MigrationFixture.rate(throttleSettings, rowsPerSecondMax),
            TableMigrations.Asked.by(ACTOR)));
  }

  private static void requireAccepted(IdempotentResult<ActionOutcome> result) {
    assertThat(result)
        .isInstanceOfSatisfying(
            IdempotentResult.Unkeyed.class,
            done -> assertThat(done.outcome()).isInstanceOf(ActionOutcome.Done.class));
  }

  private static TableMigration run(TableMigrations desk, long id) {
    return desk.find(id).orElseThrow();
  }

  private static void await(BooleanSupplier condition) {
    Awaitility.await()
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(100))
        .until(condition::getAsBoolean);
  }
}
