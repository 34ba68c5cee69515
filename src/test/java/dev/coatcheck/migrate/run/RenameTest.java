package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.migrate.source.CatalogTable;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.migrate.table.FunctionTable;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A table, its columns and its schema are called something else in the middle of a run. */
@Tag("faults")
class RenameTest {
  private static final List<String> RENAMES =
      List.of(
          "alter table orders rename column id to number",
          "alter table orders rename column created_at to made_at",
          "alter table orders rename to purchases",
          "alter table purchases set schema sales");

  @RegisterExtension final MigrationFixture fixture = MigrationFixture.apart();

  @Test
  void aRunGoesOnAndBackAndASecondOneGivesTheSameKeys() {
    fixture.orders(3_000);
    fixture.execute("create schema sales");
    TableMigration run = fixture.startInTheMiddle(500);

    RENAMES.forEach(fixture::execute);
    fixture.execute("insert into sales.purchases (made_at) values (now())");
    fixture.await(() -> fixture.now(run).target().table().text().equals("sales.purchases"));
    fixture.execute("insert into sales.purchases (made_at) values (now())");
    assertThat(fixture.now(run).target().keyColumn()).isEqualTo("number");
    assertThat(fixture.saw(run, "renamed", "sales.purchases now, and its key number")).isTrue();
    fixture.rate(run, 0);
    fixture.await(run, RunState.DONE);

    List<Long> keys = keys();
    assertThat(keys).hasSize(3_002).doesNotHaveDuplicates().isSorted();
    fixture.undo(run, Phase.EXPAND);
    assertThat(fixture.count("select count(*) from pg_trigger where tgname like '~coatcheck%'"))
        .isZero();

    TableMigration second = fixture.plan("sales", "purchases", Optional.of("made_at"));
    fixture.run(second);
    assertThat(keys()).isEqualTo(keys);
  }

  /** Triggers of the run name the columns, and Postgres refuses to alter their type then. */
  @Test
  void theTypeOfTheKeyCanBeAlteredBeforeTheRunAndAfterItsUndoAndIsAPrecondition() {
    fixture.execute(
        "create table orders (id serial primary key)",
        "insert into orders select from generate_series(1, 100)",
        "create table item (id serial primary key, order_id int references orders)");
    List<String> alter =
        List.of(
            "alter table orders alter id type bigint",
            "alter table item alter order_id type bigint");
    TableMigration run = fixture.plan("orders", Optional.empty());
    assertThat(run.plan().preconditions())
        .filteredOn(condition -> condition.code().equals("key_type_stays"))
        .singleElement()
        .extracting(condition -> condition.diagnostic().detail())
        .asString()
        .contains("undo the run from expand on", "column id of the type integer");
    fixture.run(run);
    List<Long> keys = fixture.column("select snowflake_id from orders order by id");
    for (String statement : alter) {
      assertThatThrownBy(() -> fixture.execute(statement))
          .hasMessageContaining("cannot alter type of a column used in a trigger definition");
    }

    fixture.undo(run, Phase.EXPAND);
    alter.forEach(fixture::execute);
    TableMigration second = fixture.plan("orders", Optional.empty());
    assertThat(second.plan().preconditions())
        .noneMatch(condition -> condition.code().equals("key_type_stays"));
    fixture.run(second);
    assertThat(fixture.column("select snowflake_id from orders order by id")).isEqualTo(keys);
  }

  /** It looked the names up before the undo, and then stood still. */
  @Test
  void aFollowerOfNamesThatIsLateLeavesAloneWhatAnUndoHasRemoved() {
    fixture.orders(10);
    TableMigration run = fixture.run();
    fixture.execute("alter table orders rename to purchases");
    Target now = CatalogTable.now(fixture.source, run.target()).orElseThrow();
    fixture.undo(run, Phase.EXPAND);

    FunctionTable.keepUp(fixture.source, run.target(), now);

    assertThat(functions()).isZero();
  }

  @Test
  void anUndoWaitsForAnotherSessionThatReplacesTheFunctions() {
    fixture.orders(10);
    TableMigration run = fixture.run();
    int lockClass = TargetSql.LOCK_CLASS + 1;

    try (TestSession other =
        fixture
            .sql()
            .begin(
                "select pg_advisory_xact_lock(%d, %d)"
                    .formatted(lockClass, (int) run.target().oid()))) {
      fixture.beginUndo(run, Phase.EXPAND);
      fixture.await(
          () ->
              fixture.count(
                      "select count(*) from pg_locks where locktype = 'advisory' and not granted"
                          + " and classid = "
                          + lockClass)
                  > 0);
      other.commit();
    }

    fixture.await(run, RunState.CANCELLED);
    assertThat(functions()).isZero();
  }

  private long functions() {
    return fixture.count(
        "select count(*) from pg_proc where pronamespace = 'coatcheck_migration'::regnamespace");
  }

  private List<Long> keys() {
    return fixture.column("select snowflake_id from sales.purchases order by number");
  }
}
