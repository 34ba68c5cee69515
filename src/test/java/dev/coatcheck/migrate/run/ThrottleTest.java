package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.source.ThrottleSettings;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A run gives way, says why, and goes on by itself. */
class ThrottleTest {
  /** What it may do in the middle of the test, so that it doesn't come to its end meanwhile. */
  private static final int RATE = 200;

  @RegisterExtension final MigrationFixture fixture = MigrationFixture.beside();

  @Test
  void aRateIsKeptUntilItIsLifted() {
    fixture.orders(1_000);
    assertThat(fixture.plan().progress().secondsLeft()).isEmpty();
    TableMigration run = fixture.startWith(settings -> MigrationFixture.rate(settings, 50));

    fixture.awaitReason(run, "the rate is limited to 50 rows a second");
    fixture.await(() -> fixture.now(run).progress().rowsDone() >= 256);
    Progress progress = fixture.now(run).progress();
    assertThat(progress.rowsPerSecond().orElseThrow()).isBetween(1.0, 110.0);
    assertThat(progress.secondsLeft().orElseThrow()).isPositive();
    fixture.rate(run, 0);

    TableMigration done = fixture.await(run, RunState.DONE);
    assertThat(done.status().reason()).isEmpty();
    assertThat(done.progress().rowsDone()).isEqualTo(1_000);
    fixture.requireOrderedKeys();
  }

  @Test
  @Tag("faults")
  void itGivesWayToWhateverNeedsTheSourceAndGoesOnByItself() throws Exception {
    fixture.orders(5_000);
    fixture.execute(
        "do $$ begin for i in 1..10 loop update orders set created_at = created_at; end loop; end"
            + " $$");
    TableMigration run = fixture.startInTheMiddle(RATE);

    aLongTransactionIsWaitedForAndTheTimeDoesNotCount(run);
    sessionsThatWaitForTheTableGoFirst(run);
    aSlowReadIsNoticed(run);
    theWalOfTheSourceIsKeptToARate(run);
    whatAReplicationSlotKeepsIsBoundedAndTheSlotIsNamed(run);
    aVacuumOfTheTableIsWaitedForButNotForEver(run);

    assertThat(fixture.now(run).status().state()).isEqualTo(RunState.RUNNING);
    fixture.set(run, _ -> ThrottleSettings.DEFAULT);
    fixture.await(run, RunState.DONE);
    fixture.requireOrderedKeys();
  }

  /** Neither a pause nor giving way is time worked. */
  private void aLongTransactionIsWaitedForAndTheTimeDoesNotCount(TableMigration run) {
    try (TestSession held = fixture.sql().session()) {
      held.begin("select 1");
      fixture.set(run, _ -> new ThrottleSettings(500, RATE, 0, 10, 0, 5, 1, 250, 0, true));
      fixture.awaitReason(run, "a transaction is ");
      // The next beat carries what was worked before.
      fixture.await(() -> fixture.saw(run, "throttled", "s old, more than 1"));
      long before = awaitBeat(run);
      long after = awaitBeat(run);
      assertThat(after).isEqualTo(before);
      assertThat(fixture.now(run).status().reason().orElseThrow()).startsWith("a transaction is");
    }
  }

  private void sessionsThatWaitForTheTableGoFirst(TableMigration run) throws Exception {
    String lock = "lock table orders in share update exclusive mode";
    try (TestSession held = fixture.sql().begin(lock)) {
      CompletableFuture<Void> first = lockInBackground(lock);
      CompletableFuture<Void> second = lockInBackground(lock);
      fixture.set(run, _ -> new ThrottleSettings(500, RATE, 0, 10, 0, 1, 600, 250, 0, true));

      fixture.awaitReason(run, "2 sessions wait for the table, more than 1");
      held.commit();
      first.get();
      second.get();
    }
  }

  private void aSlowReadIsNoticed(TableMigration run) {
    fixture.set(run, _ -> new ThrottleSettings(500, RATE, 0, 10, 0, 0, 600, 1, 0, true));
    try (TestSession held = fixture.sql().session()) {
      fixture.await(
          () -> {
            held.begin("lock table orders in access exclusive mode", "select pg_sleep(0.05)")
                .commit();
            return fixture.saw(run, "throttled", "reading one row takes");
          });
    }
  }

  /** The rate of a server on which others write too, so that it may wait for them. */
  private void theWalOfTheSourceIsKeptToARate(TableMigration run) {
    fixture.set(run, _ -> new ThrottleSettings(500, RATE, 1, 10, 0, 5, 600, 250, 0, true));
    fixture.await(
        () -> {
          fixture.execute("select pg_logical_emit_message(false, 'test', repeat('x', 4000000))");
          return fixture.saw(run, "throttled", "the source writes more than 1 MB of WAL a second");
        });
  }

  private void whatAReplicationSlotKeepsIsBoundedAndTheSlotIsNamed(TableMigration run) {
    String slot = "kept_" + ProcessHandle.current().pid();
    fixture.execute("select pg_create_physical_replication_slot('" + slot + "', true)");
    try {
      fixture.set(run, _ -> new ThrottleSettings(500, RATE, 0, 10, 1, 5, 600, 250, 0, true));
      fixture.await(
          () -> {
            fixture.execute("select pg_logical_emit_message(false, 'test', repeat('x', 1000000))");
            return fixture.saw(run, "throttled", "the replication slot " + slot + " keeps ");
          });
      fixture.awaitReason(run, "the replication slot " + slot + " keeps ");
      assertThat(fixture.saw(run, "throttled", " MB of WAL, more than 1")).isTrue();
    } finally {
      fixture.execute("select pg_drop_replication_slot('" + slot + "')");
    }
  }

  /**
   * Slowed down so much that it outlasts the run; an autovacuum does the same under a name of its
   * own.
   */
  private void aVacuumOfTheTableIsWaitedForButNotForEver(TableMigration run) {
    fixture.set(run, _ -> MigrationFixture.rate(ThrottleSettings.DEFAULT, RATE));
    try (TestSession vacuuming = fixture.sql().session()) {
      long vacuum = vacuuming.pid();
      vacuuming.execute("set vacuum_cost_delay = 100", "set vacuum_cost_limit = 1");
      CompletableFuture<Void> ended =
          CompletableFuture.runAsync(
              () -> {
                try {
                  vacuuming.execute("vacuum orders");
                } catch (AssertionError cancelled) {
                  // At the end of the test.
                }
              },
              task -> Thread.ofPlatform().start(task));
      fixture.awaitReason(run, "a vacuum works on the table, for ");
      long before = fixture.now(run).progress().rowsDone();
      fixture.set(run, _ -> new ThrottleSettings(500, RATE, 0, 10, 0, 5, 600, 250, 2, true));
      fixture.await(() -> fixture.now(run).progress().rowsDone() > before);
      assertThat(ended).as("it goes on beside the vacuum").isNotDone();
      fixture.execute("select pg_cancel_backend(%d)".formatted(vacuum));
      ended.join();
    }
  }

  private CompletableFuture<Void> lockInBackground(String lock) {
    return CompletableFuture.runAsync(
        () -> fixture.execute("begin", lock, "commit"), task -> Thread.ofPlatform().start(task));
  }

  /** The time worked after the next renewal of the lease. */
  private long awaitBeat(TableMigration run) {
    String until =
        "select coalesce(extract(epoch from lease_until) * 1000, 0)::bigint"
            + " from coatcheck.table_migration";
    long before = fixture.count(until);
    fixture.await(() -> fixture.count(until) > before);
    return fixture.now(run).progress().workedMillis();
  }
}
