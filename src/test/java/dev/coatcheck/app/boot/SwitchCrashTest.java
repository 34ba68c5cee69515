package dev.coatcheck.app.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.cluster.lease.FakeTime;
import dev.coatcheck.migrate.run.ActionOutcome;
import dev.coatcheck.migrate.run.ActionRequest;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.RunEvent;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.SwitchWindow;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.table.Phase;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The gateway that moves the primary key dies, or stands still, between LOCK and COMMIT. */
@Tag("faults")
class SwitchCrashTest {
  private static final int ROWS = 500;

  private final List<GatewayChild> gateways = new ArrayList<>();

  @AfterEach
  void killAll() {
    gateways.forEach(GatewayChild::kill);
  }

  @Test
  void anotherGatewayTakesOverWhenItIsKilled() throws Exception {
    try (MigrationFixture desk = MigrationFixture.desk()) {
      TableMigration run = migrated(desk, 2);
      actToTheMiddle(desk, run, true, 60).kill();

      requireMoved(desk, run, "snowflake_id");
      gateways.removeIf(gateway -> !isAlive(gateway));
      gateways.add(GatewayChild.serve(desk.gateway.on));
      actToTheMiddle(desk, run, false, 60).kill();

      requireMoved(desk, run, "id");
    }
  }

  /** It wakes up when the other one has done it all. */
  @Test
  void anotherGatewayTakesOverWhenItStandsStill() throws Exception {
    try (MigrationFixture desk = MigrationFixture.desk()) {
      TableMigration run = migrated(desk, 2);
      GatewayChild sleeper = actToTheMiddle(desk, run, true, 60);
      sleeper.freeze();

      desk.await(() -> desk.now(run).status().state() == RunState.DONE);
      sleeper.thaw();

      requireMoved(desk, run, "snowflake_id");
      act(desk, run, false);
      requireMoved(desk, run, "id");
    }
  }

  /** There is no other gateway that could end its session. */
  @Test
  void writersDoNotWaitForAGatewayThatStandsStill() throws Exception {
    try (MigrationFixture desk = MigrationFixture.desk()) {
      TableMigration run = migrated(desk, 1);
      GatewayChild sleeper = actToTheMiddle(desk, run, true, 2);
      sleeper.freeze();

      desk.execute("insert into orders default values");
      assertThat(primaryKey(desk)).isEqualTo("PRIMARY KEY (id)");
      sleeper.thaw();

      requireMoved(desk, run, "snowflake_id");
    }
  }

  /** The clock of the gateway is two hours ahead, and the window opens in one. */
  @Test
  void theWindowOpensByTheClockOfPostgres(@TempDir Path folder) throws Exception {
    Optional<FakeTime> clock = FakeTime.in(folder);
    assumeTrue(
        clock.isPresent(), "libfaketime is not installed; on Debian the package is faketime");
    try (MigrationFixture desk = MigrationFixture.desk()) {
      desk.orders(ROWS);
      gateways.add(
          GatewayChild.serve(desk.gateway.on, clock.orElseThrow().ahead(Duration.ofHours(2))));
      TableMigration run = desk.run(desk.plan("orders", Optional.of("created_at")));
      SwitchWindow inAnHour =
          new SwitchWindow(Optional.of(Instant.now().plus(Duration.ofHours(1))), Optional.empty());

      MigrationFixture.done(
          desk.migrations()
              .switchWithin(run.id(), inAnHour, ActionRequest.by(MigrationFixture.ACTOR)));

      desk.await(() -> isWaiting(desk, run) || desk.now(run).status().state() == RunState.DONE);
      assertThat(primaryKey(desk)).isEqualTo("PRIMARY KEY (id)");
      assertThat(isWaiting(desk, run)).isTrue();
    }
  }

  private static boolean isWaiting(MigrationFixture desk, TableMigration run) {
    return desk.now(run).status().reason().filter(why -> why.contains("window opens")).isPresent();
  }

  /** The gateway that is between LOCK and COMMIT, and stays there for so long. */
  private GatewayChild actToTheMiddle(
      MigrationFixture desk, TableMigration run, boolean isForward, int seconds) {
    stopInTheMiddle(desk, seconds);
    act(desk, run, isForward);
    awaitMiddle(desk);
    return runner(desk);
  }

  private TableMigration migrated(MigrationFixture desk, int count) throws IOException {
    desk.orders(ROWS);
    desk.execute(
        "create table item (id bigserial primary key,"
            + " order_id bigint not null references orders on delete cascade)",
        "insert into item (order_id) select 1 + n %% %d from generate_series(1, 1000) n"
            .formatted(ROWS),
        "create table middle (seconds int)",
        "create sequence middle_n",
        """
        create function middle() returns event_trigger language plpgsql as $$ begin
          if current_setting('application_name') like 'coatcheck run %'
              and exists (select from public.middle) and nextval('public.middle_n') = 1 then
            perform pg_sleep((select seconds from public.middle));
          end if;
        end $$
        """);
    for (int i = 0; i < count; i++) {
      gateways.add(GatewayChild.serve(desk.gateway.on));
    }
    return desk.run(desk.plan("orders", Optional.of("created_at")));
  }

  /** The next runner that drops a constraint of the table stays there for so long. */
  private static void stopInTheMiddle(MigrationFixture desk, int seconds) {
    desk.execute(
        "truncate middle",
        "insert into middle values (%d)".formatted(seconds),
        "select setval('middle_n', 1, false)",
        "drop event trigger if exists middle",
        "create event trigger middle on ddl_command_end when tag in ('ALTER TABLE')"
            + " execute function middle()");
  }

  private static void act(MigrationFixture desk, TableMigration run, boolean isForward) {
    ActionRequest<ActionOutcome> asked = ActionRequest.by(MigrationFixture.ACTOR);
    MigrationFixture.done(
        isForward
            ? desk.migrations().switchWithin(run.id(), SwitchWindow.ANY_TIME, asked)
            : desk.migrations().undo(run.id(), Phase.SWITCH, asked));
  }

  private static void awaitMiddle(MigrationFixture desk) {
    desk.await(
        () ->
            desk.count(
                    "select count(*) from pg_stat_activity a join pg_locks l using (pid)"
                        + " where a.wait_event = 'PgSleep' and l.granted"
                        + " and l.mode = 'AccessExclusiveLock'"
                        + " and l.relation = (select oid from pg_class where relname = 'orders'"
                        + " and relkind = 'r')")
                > 0);
  }

  private GatewayChild runner(MigrationFixture fixture) {
    long pid =
        fixture.count(
            "select substring(holder from '[0-9]+$') from coatcheck.table_migration limit 1");
    return gateways.stream().filter(gateway -> gateway.pid() == pid).findFirst().orElseThrow();
  }

  private static boolean isAlive(GatewayChild gateway) {
    return ProcessHandle.of(gateway.pid()).filter(ProcessHandle::isAlive).isPresent();
  }

  private static String primaryKey(MigrationFixture desk) {
    return desk.texts(
            "select pg_get_constraintdef(oid) from pg_constraint where contype = 'p'"
                + " and conrelid = 'orders'::regclass")
        .getFirst();
  }

  private static void requireMoved(MigrationFixture desk, TableMigration run, String column) {
    desk.await(() -> desk.now(run).status().state() != RunState.RUNNING);
    assertThat(desk.now(run).status().state())
        .as("%s", desk.now(run).status())
        .isEqualTo(RunState.DONE);
    assertThat(primaryKey(desk)).isEqualTo("PRIMARY KEY (" + column + ")");
    List<RunEvent> events = desk.migrations().journal().events(run.id(), 0);
    assertThat(events).noneMatch(event -> event.kind().equals("failed"));
    // The next thousand rows are as right as those before.
    desk.execute(
        "insert into orders select from generate_series(1, 1000)",
        "insert into item (order_id) select id from orders order by id desc limit 1000");
    assertThat(
            desk.column(
                "select i.id from item i left join orders o on o.id = i.order_id"
                    + " where i.order_id_snowflake_id is distinct from o.snowflake_id"))
        .isEmpty();
    assertThat(desk.texts("select conname::text from pg_constraint where not convalidated"))
        .isEmpty();
  }
}
