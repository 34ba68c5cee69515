package dev.coatcheck.migrate.primarykey;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.run.ActionRequest;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.run.Writers;
import dev.coatcheck.migrate.table.Phase;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An application writes all the time, while its table and the children go through every phase, back
 * from each, through the switch, back, there again, back to where all began, and once more up to
 * the last phase.
 */
class ShopTest {
  private static final long WAIT_MILLIS_MAX = 2_000;
  private static final long SEED = Long.getLong("seed", System.nanoTime());

  @Test
  @Tag("faults")
  void noWriterFailsOrWaitsForLongNoRowIsLostAndNoneEverHasTwoKeys() {
    goThrough(false, 500, 2);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @Tag("faults")
  void theSameWithFortyThousandOrdersAndThreeItemsEach(boolean beside) {
    goThrough(beside, Integer.getInteger("shop.rows", 40_000), 4);
  }

  private static void goThrough(boolean beside, int rows, int threads) {
    System.out.println("ShopTest: -Dseed=" + SEED);
    try (MigrationFixture fixture = MigrationFixture.of(beside);
        Shop shop = Shop.of(fixture, rows)) {
      fixture.patience = Duration.ofSeconds(180 + rows / 200);
      Ledger ledger = Ledger.of(fixture, "orders", "id");
      TableMigration last;
      try (Writers writers = shop.open(threads, SEED)) {
        TableMigration first = fixture.run();
        ledger.requireOrder();
        ledger.note();
        for (Phase phase : List.of(Phase.NOT_NULL, Phase.INDEX, Phase.BACKFILL)) {
          fixture.undo(first, phase);
        }
        fixture.resume(first);
        fixture.await(first, RunState.DONE);
        ledger.note();
        report("up to the switch", writers);
        requireSwitch(fixture, first, shop, writers);
        shop.switched(false);
        fixture.undo(first, Phase.SWITCH);
        requireUnnoticed("undo of the switch", writers);
        requireTwins(fixture);
        requireSwitch(fixture, first, shop, writers);
        ledger.note();
        MigrationFixture.done(
            fixture.migrations().verify(first.id(), ActionRequest.by(MigrationFixture.ACTOR)));
        fixture.await(first, RunState.DONE);
        requireTwins(fixture);
        report("verification", writers);
        shop.switched(false);
        fixture.undo(first, Phase.EXPAND);
        report("undo of everything", writers);
        requireBare(fixture);

        last = fixture.run();
        requireSwitch(fixture, last, shop, writers);
        writers.stop();
        System.out.println(
            "ShopTest: %d operations, %d errors they asked for"
                .formatted(writers.operations(), shop.provoked.get()));
        assertThat(writers.errors).isEmpty();
        assertThat(writers.operations()).isGreaterThan(1_000);
      }
      fixture.awaitDelivered(last);
      ledger.note();
      ledger.requireKeys();
      ledger.requireMappings(fixture.type);
      requireNotes(fixture, shop);
      requireContract(fixture, last, shop);
    }
  }

  private static void requireSwitch(
      MigrationFixture fixture, TableMigration run, Shop shop, Writers writers) {
    report("since then", writers);
    fixture.switchKey(run);
    requireUnnoticed("switch", writers);
    shop.switched(true);
    requireTwins(fixture);
  }

  /** Nobody notices who knows the new keys only. */
  private static void requireContract(MigrationFixture fixture, TableMigration run, Shop shop) {
    try (Writers writers = shop.openNewModel(2, SEED)) {
      fixture.await(() -> writers.operations() > 50 || !writers.errors.isEmpty());
      fixture.contract(run);
      report("contract", writers);
      long afterwards = writers.operations();
      fixture.await(() -> writers.operations() > afterwards + 50 || !writers.errors.isEmpty());
      writers.stop();
      assertThat(writers.errors).isEmpty();
      assertThat(fixture.count("select count(*) from item where text = 'new model'"))
          .isEqualTo(writers.operations());
    }
    fixture.awaitDelivered(run);
    Set<Long> published =
        Set.copyOf(fixture.gateway.on.sql().numbers("select key from coatcheck.public_id"));
    assertThat(fixture.column("select snowflake_id from orders"))
        .filteredOn(key -> !published.contains(key))
        .isEmpty();
  }

  /** Both columns name the same order, or none, in one snapshot of a busy database. */
  private static void requireTwins(MigrationFixture fixture) {
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

  private static void requireUnnoticed(String when, Writers writers) {
    assertThat(report(when, writers)).isLessThan(WAIT_MILLIS_MAX);
    assertThat(writers.errors).isEmpty();
  }

  /** The longest operation since the last report. */
  private static long report(String when, Writers writers) {
    long longestMillis = writers.longestMillis();
    System.out.println("ShopTest: " + when + ": the longest took " + longestMillis + " ms");
    return longestMillis;
  }
}
