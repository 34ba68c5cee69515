package dev.coatcheck.migrate.primarykey;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.journal.Asked;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.state.RunState;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.migrate.steps.Phase;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Others hold what the switch and the children's foreign keys want to lock. */
class SwitchLockTest {
  private static final int CHILDREN = 8;
  private static final long HELD_MILLIS = 250;
  private static final long WAIT_MILLIS_MAX = 2_000;

  /** Each child is held for a moment, and the moments must not add up for the others. */
  @Test
  void writersDoNotWaitForAllChildrenOneAfterTheOther() throws InterruptedException {
    try (MigrationFixture fixture = MigrationFixture.apart()) {
      fixture.orders(100);
      IntStream.range(0, CHILDREN)
          .forEach(
              n ->
                  fixture.execute(
                      "create table child_%d (order_id bigint references orders)".formatted(n)));
      TableMigration run = fixture.run(fixture.plan("orders", java.util.Optional.empty()));
      List<Thread> holders = new ArrayList<>();
      Queue<Throwable> errors = new ConcurrentLinkedQueue<>();
      for (int n = 0; n < CHILDREN; n++) {
        String child = "child_" + n;
        TestSession held = fixture.sql().begin("lock table " + child + " in row exclusive mode");
        holders.add(start(errors, () -> holdOn(fixture, held, child)));
      }
      AtomicBoolean stopped = new AtomicBoolean();
      AtomicLong longestNanos = new AtomicLong();
      Thread writer = start(errors, () -> write(fixture, stopped, longestNanos));

      fixture.switchKey(run);

      stopped.set(true);
      writer.join();
      for (Thread holder : holders) {
        holder.join();
      }
      assertThat(errors).isEmpty();
      assertThat(TimeUnit.NANOSECONDS.toMillis(longestNanos.get())).isLessThan(WAIT_MILLIS_MAX);
    }
  }

  private static Thread start(Queue<Throwable> errors, Runnable work) {
    return Thread.ofPlatform()
        .start(
            () -> {
              try {
                work.run();
              } catch (RuntimeException | AssertionError failed) {
                errors.add(failed);
              }
            });
  }

  /** Until the switch has waited for it for a moment. */
  private static void holdOn(MigrationFixture fixture, TestSession held, String child) {
    try (held) {
      fixture.await(
          () ->
              fixture.count(
                      "select count(*) from pg_locks where not granted and relation = '"
                          + child
                          + "'::regclass")
                  > 0);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(HELD_MILLIS));
      held.commit();
    }
  }

  private static void write(
      MigrationFixture fixture, AtomicBoolean stopped, AtomicLong longestNanos) {
    try (TestSession session = fixture.sql().session()) {
      while (!stopped.get()) {
        long began = System.nanoTime();
        session.execute("insert into orders default values");
        longestNanos.accumulateAndGet(System.nanoTime() - began, Math::max);
      }
    }
  }

  /** Their transactions lock the child first and then the table, against the order of the run. */
  @Test
  void whoDeletesWhileForeignKeysAreAddedIsNeverTheVictim() throws InterruptedException {
    try (ShopWithItems shop = new ShopWithItems(1_000)) {
      TableMigration run = shop.fixture.run(shop.plan());
      AtomicBoolean stopped = new AtomicBoolean();
      Queue<Throwable> errors = new ConcurrentLinkedQueue<>();
      Thread writer = start(errors, () -> delete(shop, 1, stopped));
      for (int i = 0; i < 2; i++) {
        shop.fixture.undo(run, Phase.CHILDREN);
        shop.resume(run);
        shop.fixture.await(run, RunState.DONE);
      }
      stopped.set(true);
      writer.join();
      assertThat(errors).isEmpty();
      shop.requireSound();
    }
  }

  private static void delete(ShopWithItems shop, int kept, AtomicBoolean stopped) {
    try (TestSession session = shop.fixture.sql().session()) {
      while (!stopped.get()) {
        session.begin("insert into item (order_id) values (%d)".formatted(kept));
        long id = session.number("insert into orders default values returning id");
        session.execute(
            "insert into item (order_id) values (%d)".formatted(id),
            "delete from orders where id = %d".formatted(id));
        session.commit();
      }
    }
  }

  @Test
  @Tag("faults")
  void aChildThatIsHeldForGoodLeavesAllAsItWasAndNamesTheHolder() {
    try (ShopWithItems shop = new ShopWithItems(1_000);
        TestSession held = shop.fixture.sql().session()) {
      TableMigration run = shop.fixture.run(shop.plan());
      shop.fixture.execute("alter table orders disable trigger \"~coatcheck_insert\"");
      assertThat(shop.failedSwitch(run)).contains("~coatcheck_insert");
      shop.fixture.execute("alter table orders enable always trigger \"~coatcheck_insert\"");
      List<String> before = shop.catalog();
      held.execute("set application_name = 'a long report'");
      held.begin("select count(*) from item");

      assertThat(shop.failedSwitch(run))
          .contains("primary-key", "20 tries", "a long report", "idle in transaction");

      assertThat(shop.catalog()).isEqualTo(before);
      shop.requireSound();
      held.commit();
      shop.retry(run);
      shop.requirePrimaryKey("snowflake_id");

      held.begin("select count(*) from orders");
      MigrationFixture.done(
          shop.fixture.migrations().undo(run.id(), Phase.SWITCH, Asked.by(MigrationFixture.ACTOR)));
      assertThat(shop.fixture.await(run, RunState.FAILED).status().reason().orElseThrow())
          .contains("primary-key", "20 tries", "a long report");
      shop.requirePrimaryKey("snowflake_id");
      held.commit();
      shop.retry(run);
      shop.requirePrimaryKey("id");
      shop.requireSound();
    }
  }
}
