package dev.coatcheck.migrate.film;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.film.FilmRental.Table;
import dev.coatcheck.migrate.plan.Precondition;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.table.Phase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A real schema and a web application of four frameworks, while three of its tables migrate. */
class FilmRentalTest {
  private static final int WORKERS = 6;
  private static final int LOOKED_UP = 1_000;
  private static final long SEED = Long.getLong("seed", System.nanoTime());

  /** With so few rows each phase meets thousands of operations; more only take longer. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @Tag("faults")
  void thereBackAndThereAgainUnderLoadOnlyWithErrorsThatPlanNamed(boolean beside) {
    goThrough(beside, 6_000);
  }

  private static void goThrough(boolean beside, int customers) {
    System.out.println("FilmRentalTest: -Dseed=" + SEED);
    try (MigrationFixture fixture = MigrationFixture.of(beside);
        FilmRental rental = FilmRental.of(fixture, customers)) {
      fixture.patience = Duration.ofSeconds(240 + customers / 100);
      FilmLedger ledger = FilmLedger.of(fixture);
      long began = System.nanoTime();
      Map<Table, TableMigration> last;
      try (WebApplication application = WebApplication.start(rental, ledger, WORKERS, SEED)) {
        // So that plan finds its statements.
        awaitOperations(application, 20L * WebStatements.KINDS.size());
        Map<Table, TableMigration> first = migrate(fixture, rental, application);
        ledger.requireOrder();
        ledger.noteKeys();
        awaitOperations(application, application.operations() + 500);
        for (Table table : Table.values()) {
          fixture.switchKey(first.get(table));
        }
        awaitOperations(application, application.operations() + 500);
        for (Table table : Table.values()) {
          fixture.undo(first.get(table), Phase.EXPAND);
        }
        awaitOperations(application, application.operations() + 500);
        last = migrate(fixture, rental, application);
        for (Table table : Table.values()) {
          fixture.switchKey(last.get(table));
          fixture.undo(last.get(table), Phase.SWITCH);
          fixture.switchKey(last.get(table));
        }
        awaitOperations(application, application.operations() + 500);
        application.stop();

        Duration took = Duration.ofNanos(System.nanoTime() - began);
        System.out.println("FilmRentalTest: " + took + ", " + application.figures());
        assertThat(application.errors).as("errors that plan didn't name").isEmpty();
        assertThat(application.kinds()).hasSize(WebStatements.KINDS.size());
      }
      ledger.noteKeys();
      ledger.requireNothingLost();
      ledger.requireKeys();
      for (Table table : Table.values()) {
        fixture.await(() -> fixture.outbox(last.get(table).target()).lag().entries() == 0);
      }
      Map<Table, Map<Long, Long>> keys = ledger.keys();
      requireLookUps(fixture, rental, keys);

      rental.dropViews();
      for (Table table : Table.values()) {
        fixture.contract(last.get(table));
      }
      requireLookUps(fixture, rental, keys);
    }
  }

  /** All three at once. */
  private static Map<Table, TableMigration> migrate(
      MigrationFixture fixture, FilmRental rental, WebApplication application) {
    Map<Table, TableMigration> runs = new EnumMap<>(Table.class);
    for (Table table : Table.values()) {
      TableMigration planned =
          fixture.plan(table.text, rental.types.get(table), Optional.of(table.createdAt));
      assertThat(planned.plan().preconditions())
          .extracting(Precondition::code)
          .as(table.text)
          .contains("prepared_star", "serialization_failures", "update_triggers");
      application.accept(planned.plan().preconditions());
      runs.put(table, planned);
    }
    runs.values().forEach(fixture::start);
    runs.values().forEach(run -> fixture.await(run, RunState.DONE));
    return runs;
  }

  private static void awaitOperations(WebApplication application, long wanted) {
    Awaitility.await()
        .atMost(Duration.ofMinutes(5))
        .until(() -> application.operations() >= wanted || !application.errors.isEmpty());
    assertThat(application.errors).isEmpty();
  }

  /** Of some rows, and the mappings of all. */
  private static void requireLookUps(
      MigrationFixture fixture, FilmRental rental, Map<Table, Map<Long, Long>> keysOf) {
    for (Table table : Table.values()) {
      Map<Long, Long> keys = keysOf.get(table);
      assertThat(fixture.mapped(rental.types.get(table))).as(table.text).containsAllEntriesOf(keys);
      List<Long> ids = new ArrayList<>(keys.keySet());
      Collections.shuffle(ids, new Random(SEED));
      Map<Long, Long> some = new HashMap<>(keys);
      some.keySet().retainAll(ids.subList(0, Math.min(LOOKED_UP, ids.size())));
      fixture.requireLookUps(rental.types.get(table), some);
    }
  }
}
