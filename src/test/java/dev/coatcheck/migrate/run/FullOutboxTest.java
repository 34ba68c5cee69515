package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.journal.Asked;
import dev.coatcheck.migrate.state.RunState;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.migrate.steps.Phase;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An undo while mappings wait in the outbox. */
class FullOutboxTest {
  private static final int ROWS = 100;
  private static final int NEW_ROWS = 5_000;

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anUndoWaitsForTheOutboxShowsWhatIsLeftAndLosesNoMapping(boolean beside) {
    try (MigrationFixture fixture = MigrationFixture.of(beside)) {
      fixture.orders(ROWS);
      TableMigration run = fixture.run(fixture.plan("orders", Optional.of("created_at")));
      try (TestSession held =
          fixture.gateway.on.sql().begin("lock table coatcheck.alias in share mode")) {
        fixture.execute(
            "insert into orders select from generate_series(1, %d)".formatted(NEW_ROWS));
        MigrationFixture.done(
            fixture.migrations().undo(run.id(), Phase.EXPAND, Asked.by(MigrationFixture.ACTOR)));

        fixture.awaitReason(run, NEW_ROWS + " entries of the outbox are left");
        assertThat(fixture.saw(run, "draining", NEW_ROWS + " entries")).isTrue();
        held.rollback();
      }

      fixture.await(run, RunState.CANCELLED);
      assertThat(fixture.now(run).status().reason()).isEmpty();
      assertThat(mappings(fixture)).isEqualTo(ROWS + NEW_ROWS);
      assertThat(fixture.count("select count(*) from pg_trigger where tgname like '~coat%'"))
          .isZero();
    }
  }

  private static long mappings(MigrationFixture fixture) {
    return fixture.gateway.database.read(
        "test", sql -> sql.fetchSingle("select count(*) from coatcheck.alias").get(0, Long.class));
  }
}
