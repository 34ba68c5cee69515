package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

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
}
