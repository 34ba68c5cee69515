package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.migrate.table.SetAside;
import dev.coatcheck.migrate.table.Step;
import dev.coatcheck.postgres.sql.TestSession;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Others hold what a run wants. */
class LockTest {
  @RegisterExtension final MigrationFixture fixture = MigrationFixture.beside();

  /** What is locked is set aside; a retry fills it with the keys that were kept free for it. */
  @Test
  void aRowThatIsLockedIsFilledLaterAndInOrder() {
    try (TestSession held = fixture.sql().session()) {
      fixture.orders(1_000);
      TableMigration run = fixture.startInTheMiddle(10);
      held.begin("update orders set created_at = created_at where id in (700, 702)");
      fixture.rate(run, 0);

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
      fixture.retry(run);
      fixture.await(run, RunState.DONE);
      fixture.requireOrderedKeys();
      assertThat(fixture.migrations().journal().setAside(run.id())).isEmpty();
    }
  }

  @Test
  void aRunThatIsNotBeingUndoneDoesNotEndAsUndone() {
    fixture.orders(10);
    TableMigration run = fixture.now(fixture.run());

    fixture.migrations().journal().undone(run);

    assertThat(fixture.now(run).status()).isEqualTo(run.status());
  }

  /** The first one ends without the state that is to end the second one. */
  @Test
  @Tag("faults")
  void anUndoOfMoreThatIsAcceptedDuringAnUndoIsDoneToo() {
    fixture.orders(100);
    fixture.patience = Duration.ofMinutes(1);
    TableMigration run = fixture.run();
    try (TestSession held = fixture.sql().session()) {
      held.begin("select from orders limit 1");
      fixture.beginUndo(run, Phase.NOT_NULL);
      fixture.await(() -> fixture.now(run).status().waitsFor().isPresent());
      fixture.beginUndo(run, Phase.EXPAND);
      held.commit();
    }

    fixture.await(run, RunState.CANCELLED);
  }

  /** A delete archives its row's key, and an undo archives the keys of all rows. */
  @Test
  @Tag("faults")
  void anUndoKeepsToTheRateAndGivesWayToWhoDeletes() {
    fixture.orders(1_000);
    fixture.patience = Duration.ofMinutes(1);
    TableMigration run = fixture.run();
    fixture.rate(run, 100);
    fixture.beginUndo(run, Phase.EXPAND);
    fixture.awaitReason(run, "the rate is limited to 100 rows a second");
    try (TestSession held = fixture.sql().session()) {
      held.begin("delete from orders where id = 700");
      fixture.rate(run, 0);
      fixture.awaitReason(run, "archive: another session");
      fixture.execute("set statement_timeout = '1s'", "delete from orders where id = 500");
      held.execute("delete from orders where id between 600 and 1000").commit();
    }

    fixture.await(run, RunState.CANCELLED);
    assertThat(archived()).isEqualTo(1_000);
  }

  /** Under the lock of the next step only rows are archived that came in the last moment. */
  @Test
  @Tag("faults")
  void anUndoThatGoesOnArchivesFirstWhatCameMeanwhile() {
    fixture.orders(100);
    fixture.patience = Duration.ofSeconds(30);
    TableMigration run = fixture.run();
    fixture.undo(run, Phase.INDEX);
    try (TestSession held = fixture.sql().begin("select from orders limit 1")) {
      fixture.beginUndo(run, Phase.EXPAND);
      fixture.await(
          () ->
              fixture.now(run).status().waitsFor().stream()
                  .anyMatch(wait -> wait.operation().equals(Step.DUAL_WRITE)));
      fixture.pause(run);
      fixture.awaitNoRunner();
      fixture.execute("insert into orders select from generate_series(1, 50)");
      fixture.beginUndo(run, Phase.EXPAND);
      fixture.await(
          () -> fixture.count("select archived_id from coatcheck_migration.checkpoint") == 150);
      held.commit();
    }
    fixture.await(run, RunState.CANCELLED);
    assertThat(archived()).isEqualTo(150);
  }

  private long archived() {
    return fixture.count(
        "select count(*) from "
            + fixture
                .texts(
                    "select oid::regclass::text from pg_class where relname like 'archive%'"
                        + " and relkind = 'r'")
                .getFirst());
  }

  /** As another run does that begins at the same time: it makes the schema of them all. */
  @Test
  @Tag("faults")
  void theFirstTwoRunsOfASourceMayBeginTogether() {
    try (TestSession held = fixture.sql().session()) {
      fixture.orders(100);
      held.begin(
          "select pg_advisory_xact_lock(%d, 0)".formatted(TargetSql.LOCK_CLASS),
          "create schema coatcheck_migration");
      TableMigration run = fixture.startWith(UnaryOperator.identity());
      fixture.await(() -> waitsForAnything());
      held.commit();

      fixture.await(run, RunState.DONE);
      fixture.requireOrderedKeys();
    }
  }

  /** A trigger of the customer makes a great batch slow. */
  @Test
  @Tag("faults")
  void aBatchThatTakesTooLongIsSplit() {
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
    TableMigration run = fixture.startWith(UnaryOperator.identity());

    fixture.await(run, RunState.DONE);

    assertThat(fixture.migrations().journal().setAside(run.id())).isEmpty();
    assertThat(fixture.saw(run, "set_aside", "")).isFalse();
    fixture.requireOrderedKeys();
  }

  @Test
  @Tag("faults")
  void aRunStopsWhenMoreThanHalfOfItsBatchesFail() {
    try (TestSession held = fixture.sql().session()) {
      fixture.orders(10_000);
      fixture.patience = Duration.ofMinutes(5);
      TableMigration run = fixture.startInTheMiddle(10);
      held.begin("select from orders where id > 256 for update");
      fixture.rate(run, 0);

      assertThat(fixture.failure(run)).contains("batches failed");
      held.commit();
      fixture.retry(run);
      fixture.await(run, RunState.DONE);
      fixture.requireOrderedKeys();
    }
  }

  private boolean waitsForAnything() {
    return fixture.count(
            "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                + " and application_name like 'coatcheck run %'"
                + " and datname = current_database()")
        > 0;
  }
}
