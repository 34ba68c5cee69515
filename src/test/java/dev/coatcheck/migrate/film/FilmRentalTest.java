package dev.coatcheck.migrate.film;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.redirect.Legacy;
import dev.coatcheck.migrate.film.FilmRental.Table;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.steps.Phase;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
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

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void thereBackAndThereAgainUnderLoadOnlyWithErrorsThatPlanNamed(boolean beside) {
    goThrough(beside, 1_000);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @Tag("faults")
  void theSameWithManyRows(boolean beside) {
    goThrough(beside, 60_000);
  }

  private static void goThrough(boolean beside, int customers) {
    System.out.println("FilmRentalTest: -Dseed=" + SEED);
    try (MigrationFixture fixture = new MigrationFixture(beside);
        FilmRental rental = FilmRental.of(fixture.source, customers)) {
      fixture.patience = Duration.ofSeconds(240 + customers / 100);
      FilmLedger ledger = FilmLedger.of(fixture.source);
      long began = System.nanoTime();
      Map<Table, TableMigration> last;
      try (WebApplication application = WebApplication.start(rental, ledger, WORKERS, SEED)) {
        // So that plan finds its statements.
        awaitOperations(application, 20 * WebApplication.KINDS.size());
        Map<Table, TableMigration> first = migrate(fixture, rental, application);
        ledger.requireOrder();
        ledger.noteKeys();
        awaitOperations(application, application.operations() + 500);
        for (Table table : Table.values()) {
          fixture.undo(first.get(table), Phase.EXPAND);
        }
        awaitOperations(application, application.operations() + 500);
        last = migrate(fixture, rental, application);
        awaitOperations(application, application.operations() + 500);
        application.stop();

        Duration took = Duration.ofNanos(System.nanoTime() - began);
        System.out.println("FilmRentalTest: " + took + ", " + application.figures());
        assertThat(application.errors).as("errors that plan didn't name").isEmpty();
        assertThat(application.kinds()).hasSize(WebApplication.KINDS.size());
      }
      ledger.noteKeys();
      ledger.requireNothingLost();
      ledger.requireKeys();
      for (Table table : Table.values()) {
        fixture.await(() -> fixture.source.outbox(last.get(table).target()).lag().entries() == 0);
      }
      requireLookUps(fixture, rental, ledger);
    }
  }

  /** All three at once. */
  private static Map<Table, TableMigration> migrate(
      MigrationFixture fixture, FilmRental rental, WebApplication application) {
    Map<Table, TableMigration> runs = new EnumMap<>(Table.class);
    for (Table table : Table.values()) {
      TableMigration planned =
          fixture.plan(table.text, rental.types.get(table), Optional.of(table.createdAt));
      System.out.println("FilmRentalTest: " + table.text + " " + planned.plan().preconditions());
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

  /** The legacy ID of each row leads to its key, and so does the public ID that it leads to. */
  private static void requireLookUps(
      MigrationFixture fixture, FilmRental rental, FilmLedger ledger) {
    MappingFixture gateway = fixture.source.gateway;
    try (Legacy legacy =
        Legacy.open(
            gateway.database,
            gateway.registry,
            gateway.mappings.resolver(),
            fixture.migrations,
            gateway.observer,
            Clock.systemUTC())) {
      for (Table table : Table.values()) {
        Map<Long, Long> keys = ledger.keys(table);
        assertThat(rental.mapped(table)).as(table.text).containsAllEntriesOf(keys);
        List<Long> ids = new ArrayList<>(keys.keySet());
        Collections.shuffle(ids, new Random(SEED));
        for (long id : ids.subList(0, Math.min(LOOKED_UP, ids.size()))) {
          ResolveOutcome found = legacy.lookup().find(rental.types.get(table), id);
          assertThat(found).as("%s %d", table.text, id).isInstanceOf(ResolveOutcome.Found.class);
          String publicId = ((ResolveOutcome.Found) found).mapping().publicId().toString();
          ResolveOutcome resolved = gateway.mappings.resolver().resolve(publicId);
          assertThat(((ResolveOutcome.Found) resolved).mapping().key())
              .isEqualTo(new Key.Bigint(keys.get(id)));
        }
      }
    }
  }
}
