package dev.coatcheck.migrate.film;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.redirect.Legacy;
import dev.coatcheck.migrate.application.Precondition;
import dev.coatcheck.migrate.film.FilmRental.Table;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.state.RunState;
import dev.coatcheck.migrate.state.TableMigration;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A real schema and a web application of four frameworks, while three of its tables migrate. */
class FilmRentalTest {
  private static final int WORKERS = 6;
  private static final int LOOKED_UP = 1_000;
  private static final int FEW = 400;
  private static final String DELETE = "rails: destroy";
  private static final long SEED = Long.getLong("seed", System.nanoTime());

  @Test
  void thereBackAndThereAgainUnderLoadOnlyWithErrorsThatPlanNamed() {
    goThrough(false, FEW);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @Tag("faults")
  void theSameWithManyRows(boolean beside) {
    goThrough(beside, 60_000);
  }

  /** A log of whole rows, as in Postgres's manual; here of deletes only, so that a run can end. */
  @Test
  void whatPlanSaysFailsForGoodFailsUntilTheUndoAndNothingElseDoes() {
    try (MigrationFixture fixture = MigrationFixture.beside();
        FilmRental rental = FilmRental.of(fixture, 100)) {
      fixture.execute(
          "create table film_was (like film)",
          """
          create function keep_film() returns trigger language plpgsql security definer
            as 'begin insert into film_was select old.*; return old; end'
          """,
          "create trigger keep before delete on film for each row execute function keep_film()");
      FilmLedger ledger = FilmLedger.of(fixture);
      try (WebApplication application = WebApplication.start(rental, ledger, 3, SEED)) {
        // So that plan finds its statements.
        fixture.await(() -> application.kinds().size() == WebApplication.KINDS.size());
        TableMigration run =
            fixture.plan("film", rental.types.get(Table.FILM), Optional.of("added_at"));
        assertThat(run.plan().preconditions())
            .filteredOn(one -> one.code().equals("row_shape"))
            .singleElement()
            .asString()
            .contains("keep_film");
        application.accept(run.plan().preconditions());
        fixture.run(run);
        long before = application.operations();
        fixture.await(() -> application.named("row_shape") > 3);
        awaitOperations(application, before + 300);

        fixture.undo(run, Phase.EXPAND);

        long deleted = application.operations(DELETE);
        fixture.await(() -> application.operations(DELETE) > deleted);
        application.stop();
        System.out.println("FilmRentalTest: " + application.figures());
        assertThat(application.errors).isEmpty();
      }
      ledger.requireNothingLost();
    }
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
        awaitOperations(application, 20L * WebApplication.KINDS.size());
        Map<Table, TableMigration> first = migrate(fixture, rental, application);
        ledger.requireOrder();
        ledger.noteKeys();
        awaitOperations(application, application.operations() + 500);
        if (customers > FEW) {
          for (Table table : Table.values()) {
            fixture.switchKey(first.get(table));
          }
          awaitOperations(application, application.operations() + 500);
        }
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
        assertThat(application.kinds()).hasSize(WebApplication.KINDS.size());
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

  /** The legacy ID of each row leads to its key, and so does the public ID that it leads to. */
  private static void requireLookUps(
      MigrationFixture fixture, FilmRental rental, Map<Table, Map<Long, Long>> keysOf) {
    MappingFixture gateway = fixture.gateway;
    try (Legacy legacy =
        Legacy.open(
            gateway.database,
            gateway.registry,
            gateway.mappings.resolver(),
            fixture.migrations().legacySource(),
            gateway.observer,
            Clock.systemUTC())) {
      for (Table table : Table.values()) {
        Map<Long, Long> keys = keysOf.get(table);
        assertThat(rental.mapped(table)).as(table.text).containsAllEntriesOf(keys);
        List<Long> ids = new ArrayList<>(keys.keySet());
        Collections.shuffle(ids, new Random(SEED));
        for (long id : ids.subList(0, Math.min(LOOKED_UP, ids.size()))) {
          ResolveOutcome found = MigrationFixture.find(legacy, rental.types.get(table), id);
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
