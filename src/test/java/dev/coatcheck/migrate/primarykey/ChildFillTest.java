package dev.coatcheck.migrate.primarykey;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Rows of a child that can't be filled at once, or not at all. */
class ChildFillTest {
  private static final int ITEMS = 3_000;

  @RegisterExtension final MigrationFixture fixture = MigrationFixture.apart();
  private final ShopWithItems shop = new ShopWithItems(fixture);

  /** What another session holds is filled once that session has ended, however it ends. */
  @Test
  void rowsThatOthersHoldAreFilledInTheEnd() {
    shop.items(ITEMS);
    try (TestSession updating = fixture.sql().session();
        TestSession deleting = fixture.sql().session();
        TestSession inserting = fixture.sql().session()) {
      TableMigration run = slowly();
      updating.begin("update item set order_id = 7 where id = " + (ITEMS - 1));
      deleting.begin("delete from item where id = " + (ITEMS - 2));
      inserting.begin("insert into item (order_id) select 9 from generate_series(1, 500)");
      fixture.rate(run, 0);
      fixture.await(() -> open() <= 200);
      long held = open();
      assertThat(held).isGreaterThanOrEqualTo(2);

      updating.rollback();
      deleting.rollback();
      inserting.commit();

      fixture.await(run, RunState.DONE);
      shop.requireSound();
    }
  }

  /** Its lease has ended meanwhile, so it claims the run anew. */
  @Test
  @Tag("faults")
  void aGatewayThatStoodStillInTheMiddleGoesOn() {
    AtomicLong stoodNanos = new AtomicLong();
    fixture.nanoTime = () -> System.nanoTime() + stoodNanos.get();
    shop.items(ITEMS);
    TableMigration run = slowly();
    fixture.await(() -> open() < ITEMS);

    stoodNanos.addAndGet(TimeUnit.SECONDS.toNanos(4));

    fixture.await(run, RunState.DONE);
    shop.requireSound();
  }

  @Test
  void aTriggerThatRefusesIsNamedAndARetryGoesOn() {
    shop.items(ITEMS);
    fixture.execute(
        """
        create function closed() returns trigger language plpgsql as $$ begin
          raise exception 'the books of % are closed', new.order_id; end $$
        """,
        "create trigger closed before update on item for each row when (new.id = 2500)"
            + " execute function closed()");
    TableMigration run = fixture.plan();
    fixture.start(run);

    assertThat(fixture.failure(run))
        .contains("child-fill", "public.item", "the books of", "are closed");

    fixture.execute("drop trigger closed on item");
    shop.retry(run);
    shop.requireSound();
  }

  @Tag("faults")
  @Test
  void aTriggerThatDropsUpdatesIsSuspectedAndAnUndoTakesAllAway() {
    shop.items(ITEMS);
    fixture.execute(
        "create function dropped() returns trigger language plpgsql as"
            + " $$ begin return null; end $$",
        "create trigger dropped before update on item for each row when (new.id % 1000 = 0)"
            + " execute function dropped()");
    TableMigration run = fixture.plan();
    fixture.start(run);

    assertThat(fixture.failure(run))
        .contains("3 rows of public.item.order_id", "a trigger of the table", "retry");

    fixture.undo(run, Phase.EXPAND);
    fixture.execute("drop trigger dropped on item");
    shop.requireBare();
  }

  /** Up to the middle of the fill of the child. */
  private TableMigration slowly() {
    TableMigration run = fixture.plan();
    fixture.rate(run, 600);
    fixture.start(run);
    fixture.await(
        () ->
            fixture.count(
                    "select count(*) from pg_trigger where tgrelid = 'item'::regclass"
                        + " and tgname like '%late'")
                == 1);
    assertThat(open()).isGreaterThan(1_000);
    return run;
  }

  private long open() {
    return fixture.count("select count(*) from item where order_id_snowflake_id is null");
  }
}
