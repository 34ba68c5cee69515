package dev.coatcheck.migrate.primarykey;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.journal.Asked;
import dev.coatcheck.migrate.run.Ledger;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.state.RunState;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.migrate.steps.Phase;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * An application writes all the time, while its table and the children go through every phase,
 * through the switch, back, there again, and back to where all began.
 */
class ShopTest {
  private static final int WRITERS = 4;
  private static final long WAIT_MILLIS_MAX = 2_000;
  private static final long SEED = Long.getLong("seed", System.nanoTime());

  @Test
  void noWriterFailsOrWaitsForLongAndNoRowIsLost() {
    goThrough(1_000);
  }

  @Test
  @Tag("faults")
  void theSameWithTwoHundredThousandOrdersAndSixHundredThousandItems() {
    goThrough(200_000);
  }

  private static void goThrough(int rows) {
    System.out.println("ShopTest: -Dseed=" + SEED);
    try (MigrationFixture fixture = MigrationFixture.apart()) {
      fixture.patience = Duration.ofSeconds(180 + rows / 200);
      try (Shop shop = Shop.of(fixture, rows)) {
        Ledger ledger = Ledger.on(fixture);
        shop.open(WRITERS, SEED);
        TableMigration run = fixture.run(fixture.plan("orders", Optional.of("created_at")));
        report("up to the switch", shop.latencies());
        ledger.note();
        requireSwitch(fixture, run, shop);
        Latencies back = requireUndo(fixture, run, shop);
        report("undo", back);
        requireSwitch(fixture, run, shop);
        ledger.note();
        MigrationFixture.done(
            fixture.migrations().verify(run.id(), Asked.by(MigrationFixture.ACTOR)));
        fixture.await(run, RunState.DONE);
        Awaitility.await()
            .atMost(fixture.patience)
            .until(() -> fixture.outbox(run.target()).lag().entries() < 1_000);
        ledger.note();
        requireTwins(fixture, shop);
        shop.latencies();
        shop.switched(false);
        fixture.undo(run, Phase.EXPAND);
        report("undo of everything", shop.latencies());
        shop.stop();
        System.out.println(
            "ShopTest: %d operations, %d errors they asked for"
                .formatted(shop.operations.get(), shop.provoked.get()));
        assertThat(shop.errors).isEmpty();
        assertThat(shop.operations.get()).isGreaterThan(1_000);
        ledger.requireOneKeyPerRow();
        requireNotes(fixture, shop);
        requireBare(fixture);
      }
    }
  }

  private static void requireSwitch(MigrationFixture fixture, TableMigration run, Shop shop) {
    shop.latencies();
    fixture.switchKey(run);
    Latencies during = shop.latencies();
    report("switch", during);
    assertThat(shop.errors).isEmpty();
    assertThat(during.longestMillis()).isLessThan(WAIT_MILLIS_MAX);
    shop.switched(true);
    requireTwins(fixture, shop);
    shop.latencies();
  }

  private static Latencies requireUndo(MigrationFixture fixture, TableMigration run, Shop shop) {
    fixture.undo(run, Phase.SWITCH);
    Latencies during = shop.latencies();
    assertThat(shop.errors).isEmpty();
    assertThat(during.longestMillis()).isLessThan(WAIT_MILLIS_MAX);
    requireTwins(fixture, shop);
    return during;
  }

  /** Both columns name the same order, or none, in one snapshot of a busy database. */
  private static void requireTwins(MigrationFixture fixture, Shop shop) {
    for (String column : Shop.CHILDREN) {
      String table = column.substring(0, column.indexOf('.'));
      String name = column.substring(column.indexOf('.') + 1);
      assertThat(
              fixture.texts(
                  "select c.id || ': ' || c.%2$s || ', ' || c.%2$s_snowflake_id from %1$s c left join orders o on o.id = c.%2$s where c.%2$s_snowflake_id is distinct from o.snowflake_id or (c.%2$s is null) <> (o.id is null) limit 5"
                      .formatted(table, name)))
          .as(column)
          .isEmpty();
    }
    assertThat(shop.errors).isEmpty();
  }

  private static void requireNotes(MigrationFixture fixture, Shop shop) {
    Map<String, Long> found = new HashMap<>();
    fixture
        .texts("select order_id || ' ' || text from note where text is not null")
        .forEach(
            row ->
                found.put(
                    row.substring(row.indexOf(' ') + 1),
                    Long.valueOf(row.substring(0, row.indexOf(' ')))));
    assertThat(shop.notes).isNotEmpty();
    assertThat(found).containsAllEntriesOf(shop.notes);
  }

  private static void requireBare(MigrationFixture fixture) {
    assertThat(fixture.texts("select tgname::text from pg_trigger where tgname like '~coat%'"))
        .isEmpty();
    assertThat(
            fixture.texts(
                "select conname::text || ': ' || pg_get_constraintdef(oid) from pg_constraint"
                    + " where contype = 'f' and conrelid in ('orders'::regclass,"
                    + " 'item'::regclass, 'note'::regclass, 'payment'::regclass) order by 1"))
        .containsExactly(
            "item_order_id_fkey: FOREIGN KEY (order_id) REFERENCES orders(id) ON DELETE CASCADE",
            "note_order_id_fkey: FOREIGN KEY (order_id) REFERENCES orders(id) ON DELETE SET NULL",
            "orders_before_id_fkey: FOREIGN KEY (before_id) REFERENCES orders(id) ON DELETE SET"
                + " NULL",
            "payment_order_id_fkey: FOREIGN KEY (order_id) REFERENCES orders(id) DEFERRABLE"
                + " INITIALLY DEFERRED");
  }

  private static void report(String when, Latencies latencies) {
    System.out.println("ShopTest: " + when + ": " + latencies);
  }
}
