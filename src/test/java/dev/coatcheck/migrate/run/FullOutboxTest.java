package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.sql.TestSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An undo while mappings wait in the outbox. */
class FullOutboxTest {
  private static final int ROWS = 100;
  private static final int NEW_ROWS = 5_000;

  @RegisterExtension final MigrationFixture fixture = MigrationFixture.apart();

  @Test
  void anUndoWaitsForTheOutboxShowsWhatIsLeftAndLosesNoMapping() {
    fixture.orders(ROWS);
    TableMigration run = fixture.run();
    try (TestSession held =
        fixture.gateway.on.sql().begin("lock table coatcheck.alias in share mode")) {
      fixture.execute("insert into orders select from generate_series(1, %d)".formatted(NEW_ROWS));
      fixture.beginUndo(run, Phase.EXPAND);

      fixture.awaitReason(run, NEW_ROWS + " entries of the outbox are left");
      assertThat(fixture.saw(run, "draining", NEW_ROWS + " entries")).isTrue();
      held.rollback();
    }

    fixture.await(run, RunState.CANCELLED);
    assertThat(fixture.now(run).status().reason()).isEmpty();
    assertThat(fixture.aliases()).isEqualTo(ROWS + NEW_ROWS);
    assertThat(fixture.count("select count(*) from pg_trigger where tgname like '~coat%'"))
        .isZero();
  }
}
