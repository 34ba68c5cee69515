package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.redirect.Legacy;
import dev.coatcheck.ids.redirect.LegacySource;
import dev.coatcheck.migrate.journal.Asked;
import dev.coatcheck.migrate.journal.Journal;
import dev.coatcheck.migrate.relay.ActiveTables;
import dev.coatcheck.migrate.relay.ReadThrough;
import dev.coatcheck.migrate.state.RunState;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.time.Clock;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A legacy ID is answered from the moment of the triggers on, wherever the backfill is. */
class ReadThroughTest {
  private static final int ROWS = 3_000;

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void everyRowIsFoundInTheMiddleOfTheBackfill(boolean beside) {
    try (MigrationFixture fixture = MigrationFixture.of(beside)) {
      fixture.orders(ROWS);
      TableMigration run =
          fixture.startWith(throttleSettings -> MigrationFixture.rate(throttleSettings, 100));
      fixture.await(() -> fixture.now(run).progress().rowsDone() > 0);
      MigrationFixture.done(fixture.migrations().pause(run.id(), Asked.by(MigrationFixture.ACTOR)));
      fixture.await(() -> noRunner(fixture));
      // From here on nobody follows the outbox.
      fixture.migrations().close();
      fixture.execute(
          "insert into orders (id) values (5000)", "delete from orders where id in (2000, 2001)");
      try (Legacy legacy = legacy(fixture, readThrough(fixture))) {
        requireFound(fixture, legacy, 1);
        requireFound(fixture, legacy, 2_999);
        requireFound(fixture, legacy, 1_500);
        requireFound(fixture, legacy, 1_501);
        requireFound(fixture, legacy, 5_000);
        for (long unknown : new long[] {2_000, 4_000, 6_000, Long.MAX_VALUE}) {
          assertThat(MigrationFixture.find(legacy, fixture.type, unknown))
              .isInstanceOf(ResolveOutcome.Unknown.class);
        }
        goOnUnderLookUps(fixture, run, legacy);
      }
    }
  }

  /** Random look-ups while it runs leave the order as it is. */
  private static void goOnUnderLookUps(
      MigrationFixture fixture, TableMigration run, Legacy legacy) {
    AtomicInteger found = new AtomicInteger();
    AtomicInteger refused = new AtomicInteger();
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("ReadThroughTest: -Dseed=" + seed);
    try (TableMigrations second = fixture.start("two")) {
      fixture.set(run, throttleSettings -> MigrationFixture.rate(throttleSettings, 1_000));
      MigrationFixture.done(second.resume(run.id(), Asked.by(MigrationFixture.ACTOR)));
      CompletableFuture<Void> lookUps =
          CompletableFuture.runAsync(
              () -> {
                Random random = new Random(seed);
                while (fixture.now(run).status().state() == RunState.RUNNING) {
                  try {
                    legacy.lookup().find(fixture.type, 1 + random.nextLong(ROWS));
                    found.incrementAndGet();
                  } catch (DatabaseUnavailable busy) {
                    refused.incrementAndGet();
                  }
                }
              },
              Thread::startVirtualThread);
      fixture.await(run, RunState.DONE);
      lookUps.join();
      System.out.println("ReadThroughTest: " + found + " answered, " + refused + " refused");
      fixture.requireOrderedKeys();
      for (long id : new long[] {1, 2, 1_500, 1_600, 2_999, 3_000, 5_000}) {
        requireFound(fixture, legacy, id);
      }
      fixture.await(() -> fixture.outbox(run.target()).lag().entries() == 0);
      long rows = fixture.count("select count(*) from orders");
      assertThat(mappings(fixture)).isEqualTo(rows);
    }
  }

  private static void requireFound(MigrationFixture fixture, Legacy legacy, long id) {
    ResolveOutcome outcome = MigrationFixture.find(legacy, fixture.type, id);
    assertThat(outcome).as("%d", id).isInstanceOf(ResolveOutcome.Found.class);
    long key = fixture.count("select snowflake_id from orders where id = " + id);
    assertThat(((ResolveOutcome.Found) outcome).mapping().key()).isEqualTo(new Key.Bigint(key));
  }

  private static long mappings(MigrationFixture fixture) {
    return fixture.gateway.database.read(
        "test",
        sql -> sql.fetchSingle("select count(*) from coatcheck.public_id").get(0, Long.class));
  }

  private static boolean noRunner(MigrationFixture fixture) {
    return fixture.count(
            "select count(*) from pg_stat_activity where application_name like 'coatcheck run %'"
                + " and datname = current_database()")
        == 0;
  }

  private static ReadThrough readThrough(MigrationFixture fixture) {
    MappingFixture gateway = fixture.gateway;
    ActiveTables active =
        new ActiveTables(new Journal(gateway.database, gateway.observer, "test")::activeTables);
    // Not read yet, as in an instance whose first reading failed.
    return new ReadThrough(active, fixture.sources(), fixture.gatewayMappings());
  }

  static Legacy legacy(MigrationFixture fixture, LegacySource source) {
    MappingFixture gateway = fixture.gateway;
    return Legacy.open(
        gateway.database,
        gateway.registry,
        gateway.mappings.resolver(),
        source,
        gateway.observer,
        Clock.systemUTC());
  }
}
