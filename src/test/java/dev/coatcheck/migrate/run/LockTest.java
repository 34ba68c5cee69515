package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.backfill.SetAside;
import dev.coatcheck.migrate.journal.Asked;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.migrate.state.RunState;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.postgres.sql.TestSession;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Others hold what a run wants. */
class LockTest {
  /** A report reads the table for a while. */
  @Test
  void aRunGetsItsLockLaterAndWritersGetThroughMeanwhile() throws Exception {
    try (MigrationFixture fixture = MigrationFixture.beside();
        TestSession held = fixture.sql().session()) {
      fixture.orders(100);
      held.begin("select count(*) from orders");
      AtomicBoolean stopped = new AtomicBoolean();
      AtomicInteger written = new AtomicInteger();
      CompletableFuture<Void> writer =
          CompletableFuture.runAsync(
              () -> {
                while (!stopped.get()) {
                  fixture.execute("insert into orders default values");
                  written.incrementAndGet();
                }
              },
              Thread::startVirtualThread);
      TableMigration run = fixture.startWith(throttleSettings -> throttleSettings);
      for (int seen = 0; seen < 3; seen++) {
        fixture.await(() -> waits(fixture));
        int before = written.get();
        fixture.await(() -> !waits(fixture) && written.get() > before);
      }
      held.commit();

      fixture.await(run, RunState.DONE);
      stopped.set(true);
      writer.get();
      fixture.requireOrderedKeys();
    }
  }

  /** What is locked is set aside; a retry fills it with the keys that were kept free for it. */
  @Test
  void aRowThatIsLockedIsFilledLaterAndInOrder() {
    try (MigrationFixture fixture = MigrationFixture.beside();
        TestSession held = fixture.sql().session()) {
      fixture.orders(1_000);
      TableMigration run = fixture.plan("orders", java.util.Optional.of("created_at"));
      // After the triggers have had their lock.
      fixture.set(run, throttleSettings -> MigrationFixture.rate(throttleSettings, 10));
      fixture.start(run);
      fixture.await(() -> fixture.now(run).progress().rowsDone() > 0);
      held.begin("update orders set created_at = created_at where id in (700, 702)");
      fixture.set(run, throttleSettings -> MigrationFixture.rate(throttleSettings, 0));

      TableMigration failed = fixture.await(run, RunState.FAILED);

      assertThat(failed.status().reason().orElseThrow())
          .contains("2 rows", "ID 700", "another session holds the row", "retry");
      assertThat(fixture.column("select id from orders where snowflake_id is null"))
          .containsExactly(700L, 702L);
      assertThat(fixture.migrations().journal().setAside(run.id()))
          .extracting(SetAside::legacy)
          .containsExactly(700L, 702L);
      assertThat(failed.progress().counts().setAside()).isEqualTo(2);
      held.commit();
      MigrationFixture.done(fixture.migrations().retry(run.id(), Asked.by(MigrationFixture.ACTOR)));
      fixture.await(run, RunState.DONE);
      fixture.requireOrderedKeys();
      assertThat(fixture.migrations().journal().setAside(run.id())).isEmpty();
    }
  }

  /** As another run does that begins at the same time: it makes the schema of them all. */
  @Test
  void theFirstTwoRunsOfASourceMayBeginTogether() {
    try (MigrationFixture fixture = MigrationFixture.beside();
        TestSession held = fixture.sql().session()) {
      fixture.orders(100);
      held.begin(
          "select pg_advisory_xact_lock(%d, 0)".formatted(TargetSql.LOCK_CLASS),
          "create schema coatcheck_migration");
      TableMigration run = fixture.startWith(throttleSettings -> throttleSettings);
      fixture.await(() -> waitsForAnything(fixture));
      held.commit();

      fixture.await(run, RunState.DONE);
      fixture.requireOrderedKeys();
    }
  }

  /** A trigger of the customer makes a great batch slow. */
  @Test
  void aBatchThatTakesTooLongIsSplit() {
    try (MigrationFixture fixture = MigrationFixture.beside()) {
      fixture.orders(1_500);
      fixture.execute(
          """
          create function slow() returns trigger language plpgsql as $$ begin
            perform set_config('test.rows',
              (coalesce(nullif(current_setting('test.rows', true), ''), '0')::int + 1)::text, true);
            if current_setting('test.rows')::int = 500 then perform pg_sleep(60); end if;
            return new; end $$
          """,
          "create trigger slow before update on orders for each row execute function slow()");
      TableMigration run = fixture.startWith(throttleSettings -> throttleSettings);

      fixture.await(run, RunState.DONE);

      assertThat(fixture.migrations().journal().setAside(run.id())).isEmpty();
      assertThat(fixture.saw(run, "set_aside", "")).isFalse();
      fixture.requireOrderedKeys();
    }
  }

  @Test
  @Tag("faults")
  void aTableThatIsHeldForGoodFailsTheRunAndNamesTheHolder() {
    try (MigrationFixture fixture = MigrationFixture.beside();
        TestSession held = fixture.sql().session()) {
      fixture.orders(100);
      fixture.patience = Duration.ofMinutes(2);
      held.execute("set application_name = 'a long report'");
      held.begin("select count(*) from orders");
      TableMigration run = fixture.startWith(throttleSettings -> throttleSettings);

      TableMigration failed = fixture.await(run, RunState.FAILED);

      assertThat(failed.status().reason().orElseThrow())
          .contains("dual-write", "20 tries", "idle in transaction", "a long report");
      held.commit();
      MigrationFixture.done(fixture.migrations().retry(run.id(), Asked.by(MigrationFixture.ACTOR)));
      fixture.await(run, RunState.DONE);
      fixture.requireOrderedKeys();
    }
  }

  @Test
  @Tag("faults")
  void aRunStopsWhenMoreThanHalfOfItsBatchesFail() {
    try (MigrationFixture fixture = MigrationFixture.beside();
        TestSession held = fixture.sql().session()) {
      fixture.orders(10_000);
      fixture.patience = Duration.ofMinutes(5);
      TableMigration run =
          fixture.startWith(throttleSettings -> MigrationFixture.rate(throttleSettings, 10));
      fixture.await(() -> fixture.now(run).progress().rowsDone() > 0);
      held.begin("select from orders where id > 256 for update");
      fixture.set(run, throttleSettings -> MigrationFixture.rate(throttleSettings, 0));

      TableMigration failed = fixture.await(run, RunState.FAILED);

      assertThat(failed.status().reason().orElseThrow()).contains("batches failed");
      held.commit();
      MigrationFixture.done(fixture.migrations().retry(run.id(), Asked.by(MigrationFixture.ACTOR)));
      fixture.await(run, RunState.DONE);
      fixture.requireOrderedKeys();
    }
  }

  private static boolean waitsForAnything(MigrationFixture fixture) {
    return fixture.count(
            "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                + " and application_name like 'coatcheck run %'"
                + " and datname = current_database()")
        > 0;
  }

  private static boolean waits(MigrationFixture fixture) {
    return fixture.count(
            "select count(*) from pg_locks l join pg_stat_activity a using (pid)"
                + " where not l.granted and a.application_name like 'coatcheck run %'"
                + " and a.datname = current_database()")
        > 0;
  }
}
