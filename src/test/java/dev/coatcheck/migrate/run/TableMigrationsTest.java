package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.sql.TestSession;
import java.sql.SQLException;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class TableMigrationsTest {
  private static final int ROWS = 1_000;

  @Test
  void aRunGoesThroughAllPhasesAndBackAndGivesTheSameKeysAgain() {
    goThrough(true);
  }

  @Test
  @Tag("faults")
  void soDoesOneInAnotherDatabase() {
    goThrough(false);
  }

  @Test
  @Tag("faults")
  void anUndoOfAPhaseThatWasNeverReachedEndsNoRun() {
    try (MigrationFixture fixture = MigrationFixture.beside()) {
      fixture.orders(ROWS);
      TableMigration run = fixture.startInTheMiddle(20);

      fixture.beginUndo(run, Phase.SWITCH);
      fixture.await(run, RunState.PAUSED);

      fixture.rate(run, 0);
      fixture.resume(run);
      assertThat(fixture.await(run, RunState.DONE).progress().rowsDone()).isEqualTo(ROWS);
    }
  }

  @Test
  @Tag("faults")
  void anUndoThatIsNarrowedWhileItWorksGoesNoFurther() throws SQLException {
    try (MigrationFixture fixture = MigrationFixture.beside()) {
      fixture.orders(ROWS);
      TableMigration run = fixture.run();
      try (TestSession reader = fixture.sql().begin("select from orders limit 1")) {
        fixture.beginUndo(run, Phase.EXPAND);
        fixture.await(() -> fixture.now(run).status().waitsFor().isPresent());
        List<Long> runner = fence(fixture);

        fixture.beginUndo(run, Phase.NOT_NULL);

        fixture.await(() -> !fence(fixture).equals(runner));
        reader.execute("rollback");
      }
      fixture.await(run, RunState.PAUSED);
      assertThat(fixture.column("select count(snowflake_id) from orders"))
          .containsExactly((long) ROWS);
    }
  }

  /** How many runners the run has had. */
  private static List<Long> fence(MigrationFixture fixture) {
    return fixture.column("select fence from coatcheck.table_migration");
  }

  private static void goThrough(boolean beside) {
    try (MigrationFixture fixture = MigrationFixture.of(beside)) {
      fixture.orders(ROWS);
      List<Long> before = things(fixture);
      TableMigration run = fixture.plan();

      TableMigration done = fixture.run(run);

      assertThat(done.progress().rowsDone()).isEqualTo(ROWS);
      assertThat(fixture.migrations().journal().steps(run.id()))
          .allMatch(
              step ->
                  step.state()
                      == (step.phase().isUsual() ? StepState.VERIFIED : StepState.PENDING));
      fixture.execute("insert into orders default values");
      Awaitility.await().until(() -> fixture.aliases() == ROWS + 1);
      List<Long> keys = fixture.column("select snowflake_id from orders order by id");

      for (Phase phase : List.of(Phase.NOT_NULL, Phase.INDEX)) {
        fixture.undo(run, phase);
      }
      fixture.resume(run);
      fixture.await(run, RunState.DONE);
      // A runner that was killed may have applied a step without having written that down.
      fixture
          .gateway
          .on
          .sql()
          .execute("update coatcheck.table_migration_step set state = 'pending'");
      fixture.undo(run, Phase.EXPAND);

      assertThat(things(fixture)).as("nothing is left but the archive").isEqualTo(before);
      fixture.execute("insert into orders default values", "delete from orders where id > 1001");
      fixture.run();
      assertThat(fixture.column("select snowflake_id from orders order by id")).isEqualTo(keys);
      assertThat(fixture.aliases()).isEqualTo(ROWS + 1);
    }
  }

  /** Columns, indexes, triggers and constraints of the table, and functions and tables of ours. */
  private static List<Long> things(MigrationFixture fixture) {
    return fixture.column(
        """
        select count(*) from pg_attribute
         where attrelid = 'orders'::regclass and attnum > 0 and not attisdropped
        union all select count(*) from pg_index where indrelid = 'orders'::regclass
        union all select count(*) from pg_trigger where tgrelid = 'orders'::regclass
        union all select count(*) from pg_constraint where conrelid = 'orders'::regclass
        union all select count(*) from pg_proc
         where pronamespace = to_regnamespace('coatcheck_migration')
        union all select count(*) from pg_class
         where relnamespace = to_regnamespace('coatcheck_migration')
           and relkind in ('S', 'r') and relname not like 'archive%'
           and relname not in ('checkpoint', 'known_table', 'set_aside', 'unbound_foreign_key')
        """);
  }
}
