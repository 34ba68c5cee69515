package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.postgres.embedded.InstalledPostgres;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A dump that is taken in the middle of a run, and restored elsewhere. */
class DumpTest {
  private static final int ROWS = 2_000;

  @Test
  @Tag("faults")
  void aDumpHarmsNoRunAndItsCopyTakesWritesAndAPlanOfItSaysWhatIsInTheWay() throws Exception {
    try (InstalledPostgres server = InstalledPostgres.start()) {
      TestDatabase shop = server.database("shop");
      TestDatabase copy = server.database("copy");
      Path dump;
      try (MigrationFixture fixture = MigrationFixture.on(shop)) {
        fixture.orders(ROWS);
        fixture.execute("alter table orders add column text text");
        TableMigration run = fixture.startInTheMiddle(200);

        dump = server.dump("shop");

        assertThat(fixture.now(run).progress().rowsDone()).as("in the middle").isLessThan(ROWS);
        fixture.rate(run, 0);
        fixture.await(run, RunState.DONE);
        fixture.requireOrderedKeys();
      }
      server.restore(dump, "copy");
      try (MigrationFixture fixture = MigrationFixture.on(copy)) {
        requireWritable(fixture);
        requireRefused(fixture);
        cleaned(fixture);
        fixture.run();
        fixture.requireOrderedKeys();
      }
    }
  }

  /** The triggers came along, with all that they need. */
  private static void requireWritable(MigrationFixture fixture) {
    fixture.execute(
        "insert into orders (text) select 'new' from generate_series(1, 1000)",
        "insert into orders (id, text) values (7, 'upsert') on conflict (id)"
            + " do update set text = excluded.text",
        "update orders set text = 'changed' where id <= 1000",
        "delete from orders where id between 100 and 200",
        "insert into orders (id, text) select n, 'again' from generate_series(100, 200) n");
    assertThat(
            fixture.column(
                "select id from orders where id > %d and snowflake_id is null".formatted(ROWS)))
        .isEmpty();
    assertThat(
            fixture.column(
                "select min(id) from orders where snowflake_id is not null"
                    + " group by snowflake_id having count(*) > 1"))
        .isEmpty();
  }

  private static void requireRefused(MigrationFixture fixture) {
    List<Diagnostic> findings = fixture.refused("orders");
    assertThat(findings).extracting(Diagnostic::code).contains("column_taken", "triggers_left");
    assertThat(findings)
        .filteredOn(finding -> finding.code().equals("triggers_left"))
        .first()
        .extracting(Diagnostic::detail)
        .asString()
        .contains("restored copy", "drop schema coatcheck_migration cascade");
  }

  /** By what the refusal says. */
  private static void cleaned(MigrationFixture fixture) {
    fixture.execute(
        "drop schema coatcheck_migration cascade",
        "alter table orders drop column snowflake_id cascade");
  }
}
