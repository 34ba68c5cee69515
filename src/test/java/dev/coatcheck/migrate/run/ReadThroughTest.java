package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.mapping.OlderId;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.redirect.LegacyFixture;
import dev.coatcheck.migrate.relay.ActiveTables;
import dev.coatcheck.migrate.relay.ReadThrough;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A legacy ID is answered from the moment of the triggers on, wherever the backfill is. */
@Tag("faults")
class ReadThroughTest {
  private static final int ROWS = 3_000;

  @RegisterExtension final MigrationFixture fixture = MigrationFixture.apart();

  @Test
  void everyRowIsFoundInTheMiddleOfTheBackfill() {
    fixture.orders(ROWS);
    TableMigration run = fixture.startInTheMiddle(100);
    fixture.pause(run);
    fixture.awaitNoRunner();
    // From here on nobody follows the outbox.
    fixture.migrations().close();
    fixture.execute(
        "insert into orders (id) values (5000)", "delete from orders where id in (2000, 2001)");
    try (LegacyFixture legacy = fixture.legacy(readThrough())) {
      requireFound(legacy, 1);
      requireFound(legacy, 2_999);
      requireFound(legacy, 1_500);
      requireFound(legacy, 1_501);
      requireFound(legacy, 5_000);
      for (long unknown : new long[] {2_000, 4_000, 6_000, Long.MAX_VALUE}) {
        assertThat(MigrationFixture.find(legacy, fixture.type, unknown))
            .isInstanceOf(ResolveOutcome.Unknown.class);
      }
      goOnUnderLookUps(run, legacy);
    }
  }

  /** Random look-ups while it runs leave the order as it is. */
  private void goOnUnderLookUps(TableMigration run, LegacyFixture legacy) {
    AtomicInteger found = new AtomicInteger();
    AtomicInteger refused = new AtomicInteger();
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("ReadThroughTest: -Dseed=" + seed);
    try (TableMigrations second = fixture.start("two")) {
      fixture.rate(run, 1_000);
      MigrationFixture.done(second.resume(run.id(), ActionRequest.by(MigrationFixture.ACTOR)));
      CompletableFuture<Void> lookUps =
          CompletableFuture.runAsync(
              () -> {
                Random random = new Random(seed);
                while (fixture.now(run).status().state() == RunState.RUNNING) {
                  try {
                    legacy.find(new OlderId.LegacyId(fixture.type, 1 + random.nextLong(ROWS)));
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
        requireFound(legacy, id);
      }
      fixture.awaitDelivered(run);
      long rows = fixture.count("select count(*) from orders");
      assertThat(fixture.aliases()).isEqualTo(rows);
    }
  }

  private void requireFound(LegacyFixture legacy, long id) {
    ResolveOutcome outcome = MigrationFixture.find(legacy, fixture.type, id);
    assertThat(outcome).as("%d", id).isInstanceOf(ResolveOutcome.Found.class);
    long key = fixture.count("select snowflake_id from orders where id = " + id);
    assertThat(((ResolveOutcome.Found) outcome).mapping().key()).isEqualTo(new Key.Bigint(key));
  }

  private ReadThrough readThrough() {
    MappingFixture gateway = fixture.gateway;
    ActiveTables active =
        new ActiveTables(
            new JournalTable(gateway.database, gateway.observer, "test")::activeTables);
    // Not read yet, as in an instance whose first reading failed.
    return new ReadThrough(active, fixture.sources(), fixture.gatewayMappings());
  }
}
