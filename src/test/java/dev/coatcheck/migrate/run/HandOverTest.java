package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An instance that stops hands its runs over. */
class HandOverTest {
  @Test
  void aRunWhoseInstanceStopsIsFreeAtOnce() {
    try (MigrationFixture fixture = MigrationFixture.beside()) {
      fixture.orders(5_000);
      TableMigration run = fixture.startInTheMiddle(100);

      fixture.migrations().close();

      assertThat(fixture.now(run).status().state()).isEqualTo(RunState.RUNNING);
      assertThat(
              fixture.count(
                  "select count(*) from coatcheck.table_migration where lease_until is null"))
          .isEqualTo(1);
    }
  }

  /** With frequent deploys, an archive that begins at the first row each time would never end. */
  @Tag("faults")
  @Test
  void theLastPhaseArchivesNoRowTwice() {
    try (MigrationFixture fixture = MigrationFixture.beside()) {
      fixture.orders(5_000);
      TableMigration run = fixture.switchKey(fixture.run());
      fixture.rate(run, 500);
      MigrationFixture.done(fixture.contract(run, List.of("old_column", "row_shape")));
      fixture.await(
          () ->
              fixture.count("select greatest(archived_id, 0) from coatcheck_migration.checkpoint")
                  > 0);
      fixture.pause(run);
      fixture.awaitNoRunner();
      fixture.execute(
          "alter table coatcheck_migration.checkpoint add check (archived_id >= %d)"
              .formatted(fixture.count("select archived_id from coatcheck_migration.checkpoint")));
      fixture.rate(run, 0);

      fixture.resume(run);

      fixture.await(run, RunState.CONTRACTED);
    }
  }
}
