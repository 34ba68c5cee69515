package dev.coatcheck.migrate.primarykey;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.run.Writers;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Others hold what the switch and the children's foreign keys want to lock. */
@Tag("faults")
class SwitchLockTest {
  private static final int CHILDREN = 8;
  private static final int PARTITIONS = 12;
  private static final long HELD_MILLIS = 250;
  private static final long WAIT_MILLIS_MAX = 2_000;

  @RegisterExtension final MigrationFixture fixture = MigrationFixture.apart();
  private final ShopWithItems shop = new ShopWithItems(fixture);

  /** Each child is held for a moment, and the moments must not add up for the others. */
  @Test
  void writersDoNotWaitForAllChildrenOneAfterTheOther() {
    fixture.orders(100);
    IntStream.range(0, CHILDREN)
        .forEach(
            n ->
                fixture.execute(
                    "create table child_%d (order_id bigint references orders)".formatted(n)));
    TableMigration run = fixture.run(fixture.plan("orders", java.util.Optional.empty()));
    List<TestSession> held =
        IntStream.range(0, CHILDREN)
            .mapToObj(
                n -> fixture.sql().begin("lock table child_%d in row exclusive mode".formatted(n)))
            .toList();
    try (Writers writers = new Writers();
        TestSession session = fixture.sql().session()) {
      for (int n = 0; n < CHILDREN; n++) {
        String child = "child_" + n;
        TestSession holder = held.get(n);
        Thread.startVirtualThread(() -> holdOn(holder, child));
      }
      writers.start(
          () -> writers.operate(() -> session.execute("insert into orders default values")));

      fixture.switchKey(run);

      writers.stop();
      assertThat(writers.errors).isEmpty();
      assertThat(writers.longestMillis()).isLessThan(WAIT_MILLIS_MAX);
    }
  }

  /** And not for all partitions of a child. */
  @Test
  void writersDoNotWaitForAllPartitionsOneAfterTheOther() {
    fixture.orders(100);
    fixture.execute(
        "create table note (order_id bigint references orders, n int) partition by list (n)");
    for (int n = 0; n < PARTITIONS; n++) {
      fixture.execute("create table note_%1$d partition of note for values in (%1$d)".formatted(n));
    }
    TableMigration run = fixture.run(fixture.plan("orders", java.util.Optional.empty()));
    fixture.undo(run, Phase.CHILDREN);
    try (Writers writers = new Writers();
        TestSession session = fixture.sql().session()) {
      for (int n = 0; n < PARTITIONS; n++) {
        String partition = "note_" + n;
        TestSession holder =
            fixture.sql().begin("lock table %s in row exclusive mode".formatted(partition));
        Thread.startVirtualThread(() -> holdOn(holder, partition));
      }
      writers.start(
          () -> writers.operate(() -> session.execute("insert into note (n) values (0)")));

      fixture.resume(run);
      fixture.await(run, RunState.DONE);

      writers.stop();
      assertThat(writers.errors).isEmpty();
      assertThat(writers.longestMillis()).isLessThan(WAIT_MILLIS_MAX);
    }
  }

  /** Until the run has waited for it for a moment. */
  private void holdOn(TestSession held, String child) {
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

  /** Their transactions lock the child first and then the table, against the order of the run. */
  @Test
  void whoDeletesWhileForeignKeysAreAddedIsNeverTheVictim() {
    shop.items(1_000);
    TableMigration run = fixture.run();
    try (Writers writers = new Writers();
        TestSession session = fixture.sql().session()) {
      writers.start(() -> delete(session, 1));
      for (int i = 0; i < 2; i++) {
        fixture.undo(run, Phase.CHILDREN);
        fixture.resume(run);
        fixture.await(run, RunState.DONE);
      }
      writers.stop();
      assertThat(writers.errors).isEmpty();
    }
    shop.requireSound();
  }

  private static void delete(TestSession session, int kept) {
    session.begin("insert into item (order_id) values (%d)".formatted(kept));
    long id = session.number("insert into orders default values returning id");
    session.execute(
        "insert into item (order_id) values (%d)".formatted(id),
        "delete from orders where id = %d".formatted(id));
    session.commit();
  }

  /** Queries lock a partitioned table before its partitions. */
  @Test
  void contractHoldsNoPartitionWhileItWaitsForItsTable() {
    fixture.orders(100);
    fixture.execute(
        "create table note (order_id bigint, n int) partition by list (n)",
        "create table note_1 partition of note for values in (1)",
        "alter table note_1 add foreign key (order_id) references orders",
        "insert into note select id, 1 from orders");
    TableMigration run = fixture.switchKey(fixture.run());
    try (TestSession query = fixture.sql().begin("lock table only note in access share mode")) {
      MigrationFixture.done(fixture.contract(run, List.of("old_column", "row_shape")));
      List<String> held = new ArrayList<>();
      fixture.await(
          () -> {
            held.addAll(
                fixture.texts(
                    "select (select count(*) from pg_locks l where l.pid = w.pid and l.granted"
                        + " and l.relation = 'note_1'::regclass) from pg_locks w"
                        + " where w.relation = 'note'::regclass and not w.granted"));
            return !held.isEmpty();
          });
      assertThat(held).containsOnly("0");
      query.commit();
    }
    fixture.await(run, RunState.CONTRACTED);
  }

  @Test
  void aChildThatIsHeldForGoodLeavesAllAsItWasAndNamesTheHolder() {
    shop.items(1_000);
    try (TestSession held = fixture.sql().session()) {
      TableMigration run = fixture.run();
      fixture.execute("alter table orders disable trigger \"~coatcheck_insert\"");
      assertThat(shop.failedSwitch(run)).contains("~coatcheck_insert");
      fixture.execute("alter table orders enable always trigger \"~coatcheck_insert\"");
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
      fixture.beginUndo(run, Phase.SWITCH);
      assertThat(fixture.failure(run)).contains("primary-key", "20 tries", "a long report");
      shop.requirePrimaryKey("snowflake_id");
      held.commit();
      shop.retry(run);
      shop.requirePrimaryKey("id");
      shop.requireSound();
    }
  }
}
