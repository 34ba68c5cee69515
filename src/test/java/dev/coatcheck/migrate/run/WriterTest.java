package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.journal.Asked;
import dev.coatcheck.migrate.state.RunState;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.migrate.steps.Phase;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An application writes all the time, while its table goes through everything and back. */
class WriterTest {
  private static final int THREADS = 4;
  private static final long SEED = Long.getLong("seed", System.nanoTime());

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void noWriterFailsAndNoRowEverHasTwoKeys(boolean beside) {
    goThrough(beside, 10_000);
  }

  @Test
  @Tag("faults")
  void theSameWithHalfAMillionRows() {
    goThrough(true, 500_000);
  }

  private static void goThrough(boolean beside, long rows) {
    System.out.println("WriterTest: -Dseed=" + SEED);
    try (MigrationFixture fixture = MigrationFixture.of(beside)) {
      fixture.patience = Duration.ofSeconds(180 + rows / 500);
      Ledger ledger = Ledger.of(fixture, rows);
      long began = System.nanoTime();
      try (Application application = Application.start(fixture, rows, THREADS, SEED)) {
        TableMigration first = fixture.plan("orders", Optional.of("created_at"));
        fixture.run(first);
        ledger.requireOrder();
        ledger.note();
        for (Phase phase : List.of(Phase.NOT_NULL, Phase.INDEX, Phase.BACKFILL)) {
          fixture.undo(first, phase);
        }
        MigrationFixture.done(
            fixture.migrations().resume(first.id(), Asked.by(MigrationFixture.ACTOR)));
        fixture.await(first, RunState.DONE);
        ledger.note();
        fixture.undo(first, Phase.EXPAND);
        TableMigration second = fixture.plan("orders", Optional.of("created_at"));
        fixture.run(second);
        application.stop();
        Awaitility.await()
            .atMost(fixture.patience)
            .until(() -> fixture.outbox(second.target()).lag().entries() == 0);

        Duration took = Duration.ofNanos(System.nanoTime() - began);
        System.out.println("WriterTest: " + took + ", " + application.figures());
        assertThat(application.errors).isEmpty();
        assertThat(application.operations.get()).isGreaterThan(1_000);
      }
      ledger.note();
      ledger.requireKeys();
      ledger.requireMappings();
    }
  }
}
