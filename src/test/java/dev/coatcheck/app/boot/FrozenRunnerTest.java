package dev.coatcheck.app.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.state.RunEvent;
import dev.coatcheck.migrate.state.RunState;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The gateway that carries a run stands still for a minute; another one takes over; the first one
 * wakes up in the middle of what it was doing.
 */
@Tag("faults")
class FrozenRunnerTest {
  private static final int ROWS = 3_000;
  private static final long FROZEN_SECONDS = 60;

  private final List<GatewayChild> gateways = new ArrayList<>();

  @Test
  void nothingIsDoneTwiceOrLostWhenItSleptInTheBackfill() throws Exception {
    try (MigrationFixture fixture = desk()) {
      TableMigration run = start(fixture, 20);
      serve(fixture);
      fixture.await(() -> fixture.now(run).progress().rowsDone() > 0);

      GatewayChild sleeper = freezeRunner(fixture);
      long fence = fence(fixture);
      fixture.await(() -> fence(fixture) > fence);
      long taken = fixture.now(run).progress().rowsDone();
      fixture.await(() -> fixture.now(run).progress().rowsDone() > taken);
      sleepOut();
      assertThat(fixture.now(run).status().state()).isEqualTo(RunState.RUNNING);
      sleeper.thaw();
      fixture.set(run, settings -> MigrationFixture.rate(settings, 0));

      requireDone(fixture, run);
    } finally {
      gateways.forEach(GatewayChild::kill);
    }
  }

  /** Its statement goes on at the server while it sleeps; the other one ends it and builds anew. */
  @Test
  void nothingIsDoneTwiceOrLostWhenItSleptWhileAnIndexWasBuilt() throws Exception {
    try (MigrationFixture fixture = desk();
        TestSession report = fixture.sql().session()) {
      report.beginSnapshot();
      TableMigration run = start(fixture, 0);
      serve(fixture);
      fixture.await(() -> !builders(fixture).isEmpty());
      long first = builders(fixture).getFirst();

      GatewayChild sleeper = freezeRunner(fixture);
      fixture.await(() -> builders(fixture).stream().anyMatch(pid -> pid != first));
      assertThat(builders(fixture)).as("the first one was ended before").doesNotContain(first);
      sleepOut();
      sleeper.thaw();
      report.commit();

      requireDone(fixture, run);
    } finally {
      gateways.forEach(GatewayChild::kill);
    }
  }

  private static MigrationFixture desk() {
    MigrationFixture fixture = MigrationFixture.desk();
    fixture.orders(ROWS);
    return fixture;
  }

  private static TableMigration start(MigrationFixture fixture, int rowsPerSecondMax) {
    return fixture.startWith(settings -> MigrationFixture.rate(settings, rowsPerSecondMax));
  }

  private void serve(MigrationFixture fixture) throws Exception {
    gateways.add(GatewayChild.serve(fixture.gateway.on));
    gateways.add(GatewayChild.serve(fixture.gateway.on));
  }

  private GatewayChild freezeRunner(MigrationFixture fixture) throws Exception {
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

  private static void requireDone(MigrationFixture fixture, TableMigration run) {
    fixture.await(() -> fixture.now(run).status().state() != RunState.RUNNING);
    assertThat(fixture.now(run).status().state())
        .as("%s", fixture.now(run).status())
        .isEqualTo(RunState.DONE);
    assertThat(fixture.now(run).progress().rowsDone()).isEqualTo(ROWS);
    List<RunEvent> events = fixture.migrations().journal().events(run.id(), 0);
    assertThat(events.stream().filter(event -> event.kind().equals("step_applied")))
        .extracting(event -> event.detail().replaceFirst(": .*", ""))
        .doesNotHaveDuplicates();
    assertThat(events).noneMatch(event -> event.kind().equals("failed"));
    // The next thousand rows are as right as those before.
    fixture.execute("insert into orders select from generate_series(1, 1000)");
    fixture.await(() -> fixture.outbox(fixture.now(run).target()).lag().entries() == 0);
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

  private static List<Long> builders(MigrationFixture fixture) {
    return fixture.column(
        "select pid from pg_stat_progress_create_index where datname = current_database()");
  }

  private static long fence(MigrationFixture fixture) {
    return fixture.count("select fence from coatcheck_migration.checkpoint");
  }
}
