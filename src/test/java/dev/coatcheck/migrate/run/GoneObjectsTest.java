package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.migrate.source.ObjectsGone;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.UnfencedSession;
import dev.coatcheck.migrate.table.OwnObjectsTable;
import dev.coatcheck.migrate.table.OwnObjectsTable.Extent;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.sql.LockTimeout;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An object that a run needs is dropped: the run fails with its name, and can be undone. */
@Tag("faults")
class GoneObjectsTest {
  private static final int ROWS = 1_000;

  @RegisterExtension final MigrationFixture fixture = MigrationFixture.beside();

  @Test
  void aCheckpointThatGoesInTheMiddleFailsTheRunOnce() {
    fixture.orders(ROWS);
    TableMigration run = fixture.startInTheMiddle(20);
    long begun = begun(run);

    fixture.execute("delete from coatcheck_migration.checkpoint");

    TableMigration failed = fixture.await(run, RunState.FAILED);
    assertThat(failed.status().reason().orElseThrow())
        .contains(
            "the row of this run in coatcheck_migration.checkpoint",
            "retry",
            "undo from expand on");
    assertThat(begun(run)).isEqualTo(begun);
    fixture.retry(run);
    assertThat(fixture.failure(run)).contains("checkpoint");
    List<Long> keys = keys();

    fixture.undo(run, Phase.EXPAND);

    requireBareTable();
    fixture.run();
    assertThat(keys()).containsAll(keys);
    assertThat(fixture.count("select count(*) from orders where snowflake_id is null")).isZero();
  }

  /** It must not count as the end of the archive. */
  @Test
  void aCheckpointThatGoesInTheLastPhaseKeepsTheLegacyIds() {
    fixture.orders(ROWS);
    TableMigration run = fixture.switchKey(fixture.run());

    try (TestSession writer = fixture.sql().begin("lock table orders in row exclusive mode")) {
      MigrationFixture.done(fixture.contract(run, List.of("old_column", "row_shape")));
      fixture.await(() -> fixture.now(run).status().waitsFor().isPresent());
      writer.execute("delete from coatcheck_migration.checkpoint").commit();
    }

    assertThat(fixture.failure(run))
        .startsWith("Gone from the source: the row of this run in coatcheck_migration.checkpoint");
    assertThat(fixture.count("select count(id) from orders")).isEqualTo(ROWS);
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
          the column snowflake_id                  | column
          """)
  void whatIsGoneIsNamedAndTheUndoTakesTheRest(String name, String what) {
    fixture.orders(10);
    Target target = fixture.target(MigrationFixture.createdAt());
    fixture.apply(target, Phase.EXPAND);
    drop(what);

    try (SourceSession session = UnfencedSession.open(fixture.settings, target)) {
      OwnObjectsTable objects = new OwnObjectsTable(session, target);
      assertThatThrownBy(() -> objects.require(Extent.ON_TABLE))
          .isInstanceOf(ObjectsGone.class)
          .hasMessageStartingWith("Gone from the source: " + name.strip());
      objects.mend(Extent.ON_TABLE);
    }
    fixture.undo(target, Phase.EXPAND);
    requireBareTable();
    fixture.execute("insert into orders default values");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          the schema coatcheck_migration  | schema
          the trigger "~coatcheck_insert" | trigger ~coatcheck_insert
          """)
  void aRunThatMissesItFailsAndCanBeUndone(String name, String what) {
    fixture.orders(ROWS);
    TableMigration run = fixture.startInTheMiddle(20);
    fixture.pause(run);
    fixture.awaitNoRunner();
    drop(what);
    fixture.resume(run);

    assertThat(fixture.failure(run)).startsWith("Gone from the source: " + name.strip());

    fixture.undo(run, Phase.EXPAND);
    requireBareTable();
    fixture.execute("insert into orders default values");
  }

  @Test
  void aTableThatIsGoneIsSaidAndTheUndoTakesTheRest() {
    fixture.orders(ROWS);
    TableMigration run = fixture.startInTheMiddle(20);

    fixture.execute("drop table orders");

    assertThat(fixture.failure(run)).startsWith("Gone from the source: the table itself");
    fixture.undo(run, Phase.EXPAND);
    assertThat(ours()).isZero();
  }

  @Test
  void legacyIdsThatAreGoneStopNoWriterAndTheUndoTakesTheRest() {
    fixture.ordersWithItems(100, 100);
    TableMigration run = fixture.run();

    fixture.execute(
        "alter table orders drop column id cascade",
        "insert into orders default values",
        "delete from orders where ctid = (select ctid from orders limit 1)",
        "insert into item (order_id) values (5)",
        "update item set order_id = 6 where id = 5");

    fixture.undo(run, Phase.EXPAND);
    requireBareTable();
    fixture.execute("insert into orders default values", "insert into item (order_id) values (5)");
  }

  /** As a dump does that takes hours. */
  @Test
  void whatIsMissingIsMadeAnewWithoutAQueueOfWriters() {
    fixture.orders(10);
    Target target = fixture.target(MigrationFixture.createdAt());
    fixture.apply(target, Phase.EXPAND);
    drop("column");
    try (TestSession reader = fixture.sql().session();
        SourceSession session = UnfencedSession.open(fixture.settings, target)) {
      reader.begin("select from orders limit 1");

      assertThatThrownBy(() -> new OwnObjectsTable(session, target).mend(Extent.ON_TABLE))
          .isInstanceOf(LockTimeout.class);
    }
  }

  private void drop(String what) {
    String[] words = what.strip().split(" ", 2);
    switch (words[0]) {
      case "schema" -> fixture.execute("drop schema coatcheck_migration cascade");
      case "column" -> fixture.execute("alter table orders drop column snowflake_id cascade");
      case "trigger" -> fixture.execute("drop trigger \"" + words[1] + "\" on orders");
      default -> {
        String found =
            fixture
                .texts(
                    """
                    select name from (
                      select case relkind when 'r' then 'table' when 'S' then 'sequence' end as kind,
                             relname as name
                        from pg_class where relnamespace = 'coatcheck_migration'::regnamespace
                      union all
                      select 'function', proname
                        from pg_proc where pronamespace = 'coatcheck_migration'::regnamespace) as o
                     where kind = '%s' and name like '%s%%'
                    """
                        .formatted(words[0], words[1]))
                .getFirst();
        fixture.execute("drop %s coatcheck_migration.\"%s\" cascade".formatted(words[0], found));
      }
    }
  }

  private long begun(TableMigration run) {
    return fixture.migrations().journal().events(run.id(), 0).stream()
        .filter(event -> event.kind().equals("step_started"))
        .count();
  }

  private List<Long> keys() {
    return fixture.column(
        "select snowflake_id from orders where snowflake_id is not null order by id");
  }

  private void requireBareTable() {
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
    assertThat(ours()).isZero();
  }

  /** What is in our schema besides the archive, and the tables that all runs share. */
  private long ours() {
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
