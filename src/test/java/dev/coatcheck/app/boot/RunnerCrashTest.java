package dev.coatcheck.app.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.RunEvent;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.source.ThrottleSettings;
import dev.coatcheck.postgres.sql.TestSession;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Gateways die, or stand still, in the middle of a backfill that they share. */
@Tag("faults")
class RunnerCrashTest {
  private static final int ROWS = 20_000;
  private static final int FAULTS = 3;

  /** So that it lasts until the last fault. */
  private static final ThrottleSettings SLOWLY =
      new ThrottleSettings(100, 100, 0, 10, 0, 5, 600, 0, 0, true);

  /** Longer than a lease, so that the other has taken over when it wakes up. */
  private static final long FROZEN_MILLIS = 4_000;

  private final long seed = Long.getLong("seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final CountDownLatch done = new CountDownLatch(1);
  private final Queue<String> errors = new ConcurrentLinkedQueue<>();
  private final List<GatewayChild> gateways = new ArrayList<>();

  /** What is in the source about a run. */
  private record Mark(long fence, long lastId, long lastPosition, long rowsDone) {
    boolean isAfter(Mark before) {
      return fence >= before.fence
          && lastId >= before.lastId
          && lastPosition >= before.lastPosition
          && rowsDone >= before.rowsDone;
    }
  }

  @AfterEach
  void killAll() {
    gateways.forEach(GatewayChild::kill);
  }

  @Test
  void everyRowGetsOneKeyAndOnePublicIdWhateverDies() throws Exception {
    System.out.println("RunnerCrashTest: -Dseed=" + seed);
    try (MigrationFixture fixture = MigrationFixture.desk()) {
      fixture.orders(ROWS);
      TableMigration run = fixture.startWith(_ -> SLOWLY);
      gateways.add(GatewayChild.serve(fixture.gateway.on));
      gateways.add(GatewayChild.serve(fixture.gateway.on));
      Thread application = Thread.ofPlatform().start(() -> write(fixture));
      List<Mark> marks = new ArrayList<>();
      Thread observer = Thread.ofPlatform().start(() -> observe(fixture, marks));
      try {
        Awaitility.await().until(() -> fixture.now(run).progress().rowsDone() > 0);
        for (int fault = 0; fault < FAULTS; fault++) {
          strike(fixture, fault == 0);
        }
        assertThat(fixture.now(run).progress().rowsDone())
            .as("in the middle, seed %d", seed)
            .isLessThan(ROWS);
        fixture.set(run, _ -> ThrottleSettings.DEFAULT);
        fixture.await(run, RunState.DONE);
      } finally {
        done.countDown();
        application.join();
        observer.join();
      }
      requireSound(fixture, run, ROWS);
      gateways.forEach(GatewayChild::close);
      requireProgress(fixture, marks);
    }
  }

  /**
   * For a minute. Its statement goes on at the server while it sleeps; the other one ends it and
   * builds anew.
   */
  @Test
  void nothingIsDoneTwiceOrLostWhenItSleptWhileAnIndexWasBuilt() throws Exception {
    try (MigrationFixture fixture = MigrationFixture.desk();
        TestSession report = fixture.sql().session()) {
      fixture.orders(3_000);
      report.beginSnapshot();
      TableMigration run = fixture.startWith(_ -> ThrottleSettings.DEFAULT);
      gateways.add(GatewayChild.serve(fixture.gateway.on));
      gateways.add(GatewayChild.serve(fixture.gateway.on));
      fixture.await(() -> !builders(fixture).isEmpty());
      long first = builders(fixture).getFirst();

      GatewayChild sleeper = gateways.get(runner(fixture));
      sleeper.freeze();
      fixture.await(() -> builders(fixture).stream().anyMatch(pid -> pid != first));
      assertThat(builders(fixture)).as("the first one was ended before").doesNotContain(first);
      var _ = done.await(60, TimeUnit.SECONDS);
      sleeper.thaw();
      report.commit();

      fixture.await(run, RunState.DONE);
      fixture.execute("insert into orders select from generate_series(1, 1000)");
      requireSound(fixture, run, 3_000);
      assertThat(
              fixture.column(
                  "select indexrelid::oid from pg_index"
                      + " where indrelid = 'orders'::regclass and not indisvalid"))
          .isEmpty();
    }
  }

  private static List<Long> builders(MigrationFixture fixture) {
    return fixture.column(
        "select pid from pg_stat_progress_create_index where datname = current_database()");
  }

  /** One of the two is killed and begins anew, or stands still for longer than its lease. */
  private void strike(MigrationFixture fixture, boolean mustFreeze)
      throws IOException, InterruptedException {
    int which =
        !mustFreeze && random.nextInt(4) == 0 ? random.nextInt(gateways.size()) : runner(fixture);
    GatewayChild gateway = gateways.get(which);
    if (!mustFreeze && random.nextBoolean()) {
      gateway.kill();
      gateways.set(which, GatewayChild.serve(fixture.gateway.on));
    } else {
      gateway.freeze();
      var _ = done.await(FROZEN_MILLIS, TimeUnit.MILLISECONDS);
      gateway.thaw();
    }
    var _ = done.await(500 + random.nextInt(1_000), TimeUnit.MILLISECONDS);
  }

  /** The gateway that carries the run, or did so last. */
  private int runner(MigrationFixture fixture) {
    long pid =
        fixture.count(
            "select substring(holder from '[0-9]+$') from coatcheck.table_migration limit 1");
    return gateways.getFirst().pid() == pid ? 0 : 1;
  }

  private void requireProgress(MigrationFixture fixture, List<Mark> marks) {
    assertThat(errors).isEmpty();
    assertThat(marks).hasSizeGreaterThan(10);
    for (int i = 1; i < marks.size(); i++) {
      assertThat(marks.get(i).isAfter(marks.get(i - 1)))
          .as("%s after %s, seed %d", marks.get(i), marks.get(i - 1), seed)
          .isTrue();
    }
    assertThat(marks.getLast().rowsDone()).isEqualTo(ROWS);
    assertThat(marks.getLast().fence()).as("runners, seed %d", seed).isGreaterThan(1);
    System.out.println(
        "RunnerCrashTest: %d runners, %d rows of the application"
            .formatted(
                marks.getLast().fence(), fixture.count("select count(*) from orders") - ROWS));
  }

  private void requireSound(MigrationFixture fixture, TableMigration run, int rowsBefore) {
    Awaitility.await().until(() -> fixture.outbox(fixture.now(run).target()).lag().entries() == 0);
    assertThat(fixture.now(run).progress().rowsDone()).isEqualTo(rowsBefore);
    List<RunEvent> events = fixture.migrations().journal().events(run.id(), 0);
    assertThat(events).noneMatch(event -> event.kind().equals("failed"));
    assertThat(events.stream().filter(event -> event.kind().equals("step_applied")))
        .as("never two runners at once, seed %d", seed)
        .extracting(event -> event.detail().replaceFirst(": .*", ""))
        .doesNotHaveDuplicates();
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
                    from orders where id <= %d) as o
                 where wrong
                """
                    .formatted(rowsBefore)))
        .isEmpty();
    long rows = fixture.count("select count(distinct snowflake_id) from orders");
    assertThat(fixture.count("select count(*) from orders")).isEqualTo(rows);
    assertThat(fixture.count("select count(*) from coatcheck.public_id")).isEqualTo(rows);
    assertThat(fixture.count("select count(*) from coatcheck.alias")).isEqualTo(rows);
  }

  private void write(MigrationFixture fixture) {
    try (TestSession session = fixture.sql().session()) {
      while (!done.await(5, TimeUnit.MILLISECONDS)) {
        session.execute("insert into orders select from generate_series(1, 3)");
      }
    } catch (AssertionError | InterruptedException failed) {
      errors.add(failed.toString());
    }
  }

  private void observe(MigrationFixture fixture, List<Mark> marks) {
    try (TestSession session = fixture.sql().session()) {
      while (!done.await(20, TimeUnit.MILLISECONDS)) {
        if (session.text("select to_regclass('coatcheck_migration.checkpoint')") != null) {
          List<Long> row =
              session.numbers(
                  "select unnest(array[fence, last_id, last_position, rows_done])"
                      + " from coatcheck_migration.checkpoint");
          if (!row.isEmpty()) {
            marks.add(new Mark(row.get(0), row.get(1), row.get(2), row.get(3)));
          }
        }
      }
    } catch (AssertionError | InterruptedException failed) {
      errors.add(failed.toString());
    }
  }
}
