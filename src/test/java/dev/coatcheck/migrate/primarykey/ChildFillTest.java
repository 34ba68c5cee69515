package dev.coatcheck.migrate.primarykey;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.state.RunState;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.migrate.steps.Phase;
import dev.coatcheck.postgres.sql.TestSession;
import org.junit.jupiter.api.Test;

/** Rows of a child that can't be filled at once, or not at all. */
class ChildFillTest {
  private static final int ITEMS = 3_000;

  /** What another session holds is filled once that session has ended, however it ends. */
  @Test
  void rowsThatOthersHoldAreFilledInTheEnd() {
    try (ShopWithItems shop = new ShopWithItems(ITEMS);
        TestSession updating = shop.fixture.sql().session();
        TestSession deleting = shop.fixture.sql().session();
        TestSession inserting = shop.fixture.sql().session()) {
      TableMigration run = slowly(shop);
      updating.begin("update item set order_id = 7 where id = " + (ITEMS - 1));
      deleting.begin("delete from item where id = " + (ITEMS - 2));
      inserting.begin("insert into item (order_id) select 9 from generate_series(1, 500)");
      shop.fixture.set(run, settings -> MigrationFixture.rate(settings, 0));
      shop.fixture.await(() -> open(shop) <= 200);
      long held = open(shop);
      assertThat(held).isGreaterThanOrEqualTo(2);

      updating.rollback();
      deleting.rollback();
      inserting.commit();

      shop.fixture.await(run, RunState.DONE);
      shop.requireSound();
    }
  }

  @Test
  void aTriggerThatRefusesIsNamedAndARetryGoesOn() {
    try (ShopWithItems shop = new ShopWithItems(ITEMS)) {
      shop.fixture.execute(
          """
          create function closed() returns trigger language plpgsql as $$ begin
            raise exception 'the books of % are closed', new.order_id; end $$
          """,
          "create trigger closed before update on item for each row when (new.id = 2500)"
              + " execute function closed()");
      TableMigration run = shop.plan();
      shop.fixture.start(run);

      assertThat(shop.fixture.await(run, RunState.FAILED).status().reason().orElseThrow())
          .contains("child-fill", "public.item", "the books of", "are closed");

      shop.fixture.execute("drop trigger closed on item");
      shop.retry(run);
      shop.requireSound();
    }
  }

  @Test
  void aTriggerThatDropsUpdatesIsSuspectedAndAnUndoTakesAllAway() {
    try (ShopWithItems shop = new ShopWithItems(ITEMS)) {
      shop.fixture.execute(
          "create function dropped() returns trigger language plpgsql as"
              + " $$ begin return null; end $$",
          "create trigger dropped before update on item for each row when (new.id % 1000 = 0)"
              + " execute function dropped()");
      TableMigration run = shop.plan();
      shop.fixture.start(run);

      assertThat(shop.fixture.await(run, RunState.FAILED).status().reason().orElseThrow())
          .contains("3 rows of public.item.order_id", "a trigger of the table", "retry");

      shop.fixture.undo(run, Phase.EXPAND);
      shop.fixture.execute("drop trigger dropped on item");
      shop.requireBare();
    }
  }

  /** Up to the middle of the fill of the child. */
  private static TableMigration slowly(ShopWithItems shop) {
    TableMigration run = shop.plan();
    shop.fixture.set(run, settings -> MigrationFixture.rate(settings, 600));
    shop.fixture.start(run);
    shop.fixture.await(
        () ->
            shop.fixture.count(
                    "select count(*) from pg_trigger where tgrelid = 'item'::regclass"
                        + " and tgname like '%late'")
                == 1);
    assertThat(open(shop)).isGreaterThan(1_000);
    return run;
  }

  private static long open(ShopWithItems shop) {
    return shop.fixture.count("select count(*) from item where order_id_snowflake_id is null");
  }
}
