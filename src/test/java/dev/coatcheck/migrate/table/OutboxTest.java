package dev.coatcheck.migrate.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.LockTimeout;
import dev.coatcheck.postgres.sql.StatementTimeout;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The follower loses no row, however late its transaction commits, and takes no more than its share
 * of many. An outbox is nearly always empty, and that is what an autovacuum tells the planner.
 */
@ParameterizedClass
@ValueSource(booleans = {true, false})
class OutboxTest {
  private static final int ENTRIES = 5_000;

  private static final int SLOW_ENTRIES = 1_000;

  /** A millisecond for each row; a statement has less than a second for all. */
  private static final String SLOW =
      """
      create function coatcheck.slow() returns trigger language plpgsql as
      $$ begin perform pg_sleep(0.001); return new; end $$;
      create trigger slow before insert on coatcheck.alias
        for each row execute function coatcheck.slow()
      """;

  @RegisterExtension static final MigrationFixture BESIDE = MigrationFixture.beside();
  @RegisterExtension static final MigrationFixture APART = MigrationFixture.apart();

  private final MigrationFixture fixture;
  private final Target target;
  private final OutboxStore store;
  private final String outbox;

  OutboxTest(boolean beside) {
    fixture = beside ? BESIDE : APART;
    fixture.clear();
    fixture.execute("create table orders (id bigserial primary key, text text)");
    target = fixture.target(Optional.empty());
    fixture.apply(target, Phase.EXPAND);
    store =
        new OutboxStore(fixture.source, fixture.gateway.database, beside, target, fixture.mappings);
    outbox = target.objects().ours("outbox_a");
    for (String name : List.of(outbox, target.objects().ours("outbox_b"))) {
      fixture.execute(
          "alter table " + name + " set (autovacuum_enabled = false)",
          "insert into " + name + " (legacy, key) values (1, 1), (2, 2)",
          "delete from " + name,
          "analyze " + name);
    }
  }

  @Test
  void aRowThatWasInsertedFirstAndCommittedLastIsBrought() {
    try (TestSession late = fixture.sql().session()) {
      late.begin("insert into orders (id) values (1000)");
      fixture.execute("insert into orders select from generate_series(1, 100)");
      long mark = fixture.count("select max(n) from " + outbox);
      assertThat(fixture.drain(target)).isEqualTo(100);
      late.commit();
      assertThat(fixture.column("select n from " + outbox))
          .as("a follower that goes on from its mark would never see it")
          .hasSize(1)
          .allMatch(n -> n < mark);

      assertThat(fixture.drain(target)).isEqualTo(1);
      requireAllBrought();
    }
  }

  /** It still holds the first table when the second has long been written to, and goes on. */
  @Test
  void aRowOfTheTableThatWasLeftIsBrought() {
    try (TestSession late = fixture.sql().session()) {
      late.begin("insert into orders (id) values (1000)");
      assertThatThrownBy(store::rotate).isInstanceOf(LockTimeout.class);
      fixture.execute("insert into orders select from generate_series(1, 100)");
      assertThat(fixture.drain(target)).isEqualTo(100);
      late.execute("insert into orders (id) values (1001)");
      assertThatThrownBy(store::rotate).isInstanceOf(LockTimeout.class);
      fixture.execute("insert into orders select from generate_series(1, 100)");
      late.commit();

      assertThat(fixture.drain(target)).isEqualTo(102);
      store.rotate();
      store.rotate();
      assertThat(fixture.drain(target)).isZero();
      requireAllBrought();
    }
  }

  /** It has chosen its table, and gets there when the follower is through with it. */
  @Test
  void aRowThatComesToTheTableAfterItWasEmptiedIsBrought() throws Exception {
    try (TestSession held = fixture.sql().session()) {
      held.begin("lock table " + outbox + " in share mode");
      CompletableFuture<Void> inserted =
          CompletableFuture.runAsync(
              () -> fixture.execute("insert into orders default values"),
              Thread::startVirtualThread);
      Awaitility.await().until(this::aSessionWaits);
      assertThatThrownBy(store::rotate).isInstanceOf(LockTimeout.class);
      assertThat(fixture.count("select count(*) from " + outbox)).isZero();
      held.commit();
      inserted.get();

      assertThat(fixture.count("select count(*) from " + outbox)).isEqualTo(1);
      store.rotate();
      store.rotate();
      assertThat(fixture.drain(target)).isEqualTo(1);
      requireAllBrought();
    }
  }

  /** A scan of the entries for each entry would take no more than its share, and minutes. */
  @Test
  void aDrainTakesTheOldestEntriesAndNoMoreThanItMay() {
    fixture.execute("insert into orders select from generate_series(1, %d)".formatted(ENTRIES));

    Outbox.Drained drained = store.take(2_000, false);

    assertThat(drained).isEqualTo(new Outbox.Drained(2_000, List.of()));
    assertThat(fixture.column("select min(legacy) from " + outbox)).containsExactly(2_001L);
    assertThat(fixture.drain(target)).isEqualTo(ENTRIES - 2_000);
  }

  /** What the first table gave leaves room for the rest only. */
  @Test
  void bothTablesTogetherGiveNoMoreThanADrainMayTake() {
    fixture.execute("insert into orders select from generate_series(1, 150)");
    fixture.execute(
        "select nextval('%s')".formatted(target.objects().ours("switch").replace("'", "''")),
        "insert into orders select from generate_series(1, 150)");

    assertThat(store.take(200, false).entries()).isEqualTo(200);
    assertThat(store.take(200, false).entries()).isEqualTo(100);
  }

  /** The gateway's database writes so slowly that a full drain doesn't end in time. */
  @Test
  @Tag("faults")
  void aDrainThatTakesTooLongIsTriedAgainWithFewerEntries() {
    fixture.execute(
        "insert into orders select from generate_series(1, %d)".formatted(SLOW_ENTRIES));
    fixture.gateway.on.sql().execute(SLOW);
    DatabaseSettings settings = fixture.gatewaySettings().boundedIfPossible();
    try (Database gateway = Database.open(settings, "slow", fixture.gateway.observer)) {
      Outbox outbox = new Outbox(fixture.source, gateway, false, target, fixture.mappings);

      int timeouts = 0;
      while (outbox.lag().entries() > 0 && timeouts < 10) {
        try {
          assertThat(outbox.drain().refused()).isEmpty();
        } catch (StatementTimeout slow) {
          timeouts++;
        }
      }

      assertThat(timeouts).isPositive();
      assertThat(outbox.lag().entries()).isZero();
      requireAllBrought();
    } finally {
      fixture.gateway.on.sql().execute("drop function coatcheck.slow() cascade");
    }
  }

  private boolean aSessionWaits() {
    return fixture.count(
            "select count(*) from pg_locks l join pg_stat_activity a using (pid)"
                + " where not l.granted and a.datname = current_database()")
        > 0;
  }

  private void requireAllBrought() {
    List<Long> keys = fixture.column("select snowflake_id from orders order by 1");
    List<Long> brought =
        fixture.gateway.database.read(
            "test",
            sql ->
                sql.fetch("select key from coatcheck.public_id order by 1")
                    .getValues(0, Long.class));
    assertThat(brought).isEqualTo(keys);
  }
}
