package dev.coatcheck.migrate.primarykey;

import dev.coatcheck.Breakage;
import dev.coatcheck.BrokenBy;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * A writer that calls itself a replica switches the usual triggers of a child off, but neither of
 * ours. Each defect is one trigger that fires for other writers only.
 */
class ChildReplicaWriterTest {
  @Test
  @BrokenBy({"at-once", "late"})
  void twinsFollowItToo() {
    try (ShopWithItems shop = new ShopWithItems(10)) {
      TableMigration run = shop.fixture.run(shop.plan());
      if (!Breakage.current().isEmpty()) {
        enableForOthersOnly(shop, Breakage.current().equals("late"));
      }
      try (TestSession replica = shop.fixture.sql().session()) {
        replica.execute(
            "set session_replication_role = replica",
            "insert into item (order_id) values (7)",
            "update item set order_id = 8 where id = 1");
        replica.begin(
            "insert into item (order_id) values (5000)", "insert into orders (id) values (5000)");
        replica.commit();
      }

      shop.requireTwins();
      shop.fixture.switchKey(run);
      shop.requireSound();
    }
  }

  @TestFactory
  Stream<DynamicTest> bothTriggersAreNeeded() {
    return Breakage.requireRed(this);
  }

  private static void enableForOthersOnly(ShopWithItems shop, boolean isLate) {
    String trigger =
        shop.fixture
            .texts(
                "select quote_ident(tgname) from pg_trigger where tgrelid = 'item'::regclass and"
                    + " tgname like '~coatcheck%' and (tgname like '%late') = "
                    + isLate)
            .getFirst();
    shop.fixture.execute("alter table item enable trigger " + trigger);
  }
}
