package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.journal.Asked;
import dev.coatcheck.migrate.state.RunState;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.migrate.steps.Phase;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An object that a run needs is dropped: the run fails with its name, and can be undone. */
class GoneObjectsTest {
  private static final int ROWS = 1_000;

  @Test
  void aCheckpointThatGoesInTheMiddleFailsTheRunOnce() {
    try (MigrationFixture fixture = MigrationFixture.beside()) {
      TableMigration run = inTheMiddle(fixture);
      long begun = begun(fixture, run);

      fixture.execute("delete from coatcheck_migration.checkpoint");

      TableMigration failed = fixture.await(run, RunState.FAILED);
      assertThat(failed.status().reason().orElseThrow())
          .contains(
              "the row of this run in coatcheck_migration.checkpoint",
              "retry",
              "undo from expand on");
      assertThat(begun(fixture, run)).isEqualTo(begun);
      retry(fixture, run);
      assertThat(fixture.await(run, RunState.FAILED).status().reason().orElseThrow())
          .contains("checkpoint");
      List<Long> keys = keys(fixture);

      fixture.undo(run, Phase.EXPAND);

      requireBareTable(fixture);
      fixture.run(fixture.plan("orders", Optional.of("created_at")));
      assertThat(keys(fixture)).containsAll(keys);
      assertThat(fixture.count("select count(*) from orders where snowflake_id is null")).isZero();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          the table coatcheck_migration.checkpoint | table checkpoint
          the table coatcheck_migration.set_aside  | table set_aside
          the table coatcheck_migration."archive_  | table archive
          the table coatcheck_migration."outbox_a_ | table outbox_a
          the sequence coatcheck_migration."switch | sequence switch
          the sequence coatcheck_migration."mint_  | sequence mint_seq
          the function coatcheck_migration."mint_  | function mint_public
          the schema coatcheck_migration           | schema
          the column snowflake_id                  | column
          the trigger "~coatcheck_insert"          | trigger ~coatcheck_insert
          """)
  void whatIsGoneIsNamedAndTheUndoTakesTheRest(String name, String what) {
    try (MigrationFixture fixture = MigrationFixture.beside()) {
      TableMigration run = inTheMiddle(fixture);
      MigrationFixture.done(fixture.migrations().pause(run.id(), Asked.by(MigrationFixture.ACTOR)));
      fixture.awaitNoRunner();
      drop(fixture, what);
      MigrationFixture.done(
          fixture.migrations().resume(run.id(), Asked.by(MigrationFixture.ACTOR)));

      assertThat(fixture.await(run, RunState.FAILED).status().reason().orElseThrow())
          .startsWith("Gone from the source: " + name.strip());

      fixture.undo(run, Phase.EXPAND);
      requireBareTable(fixture);
      fixture.execute("insert into orders default values");
    }
  }

  @Test
  void aTableThatIsGoneIsSaidAndTheUndoTakesTheRest() {
    try (MigrationFixture fixture = MigrationFixture.beside()) {
      TableMigration run = inTheMiddle(fixture);

      fixture.execute("drop table orders");

      assertThat(fixture.await(run, RunState.FAILED).status().reason().orElseThrow())
          .startsWith("Gone from the source: the table itself");
      fixture.undo(run, Phase.EXPAND);
      assertThat(ours(fixture)).isZero();
    }
  }

  private static TableMigration inTheMiddle(MigrationFixture fixture) {
    fixture.orders(ROWS);
    TableMigration run =
        fixture.startWith(throttleSettings -> MigrationFixture.rate(throttleSettings, 20));
    fixture.await(() -> fixture.now(run).progress().rowsDone() > 0);
    return run;
  }

  private static void drop(MigrationFixture fixture, String what) {
    String[] words = what.strip().split(" ", 2);
    switch (words[0]) {
      case "schema" -> fixture.execute("drop schema coatcheck_migration cascade");
      case "column" -> fixture.execute("alter table orders drop column snowflake_id cascade");
      case "trigger" -> fixture.execute("drop trigger \"" + words[1] + "\" on orders");
      default -> {
        String catalog = words[0].equals("function") ? "pg_proc" : "pg_class";
        String column = words[0].equals("function") ? "proname" : "relname";
        String space = words[0].equals("function") ? "pronamespace" : "relnamespace";
        String kind =
            switch (words[0]) {
              case "table" -> " and relkind = 'r'";
              case "sequence" -> " and relkind = 'S'";
              default -> "";
            };
        String found =
            fixture
                .texts(
                    "select %s from %s where %s = 'coatcheck_migration'::regnamespace and %s like '%s%%'%s"
                        .formatted(column, catalog, space, column, words[1], kind))
                .getFirst();
        fixture.execute("drop %s coatcheck_migration.\"%s\" cascade".formatted(words[0], found));
      }
    }
  }

  private static void retry(MigrationFixture fixture, TableMigration run) {
    MigrationFixture.done(fixture.migrations().retry(run.id(), Asked.by(MigrationFixture.ACTOR)));
  }

  private static long begun(MigrationFixture fixture, TableMigration run) {
    return fixture.migrations().journal().events(run.id(), 0).stream()
        .filter(event -> event.kind().equals("step_started"))
        .count();
  }

  private static List<Long> keys(MigrationFixture fixture) {
    return fixture.column(
        "select snowflake_id from orders where snowflake_id is not null order by id");
  }

  private static void requireBareTable(MigrationFixture fixture) {
    assertThat(
            fixture.count(
                "select count(*) from pg_trigger where tgrelid = 'orders'::regclass"
                    + " and not tgisinternal"))
        .isZero();
    assertThat(
            fixture.count(
                "select count(*) from pg_attribute where attrelid = 'orders'::regclass"
                    + " and attname = 'snowflake_id' and not attisdropped"))
        .isZero();
    assertThat(ours(fixture)).isZero();
  }

  /** What is in our schema besides the archive, and the tables that all runs share. */
  private static long ours(MigrationFixture fixture) {
    return fixture.count(
        """
        select (select count(*) from pg_proc where pronamespace = to_regnamespace('coatcheck_migration'))
             + (select count(*) from pg_class
                 where relnamespace = to_regnamespace('coatcheck_migration')
                   and relkind in ('S', 'r') and relname not in ('checkpoint', 'known_table', 'set_aside', 'unbound_foreign_key')
                   and relname not like 'archive%')
        """);
  }
}
