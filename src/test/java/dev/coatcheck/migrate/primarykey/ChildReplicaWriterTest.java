package dev.coatcheck.migrate.primarykey;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A writer that calls itself a replica switches the usual triggers of a child off, but neither of
 * ours.
 */
class ChildReplicaWriterTest {
  @RegisterExtension final MigrationFixture fixture = MigrationFixture.apart();
  private final ShopWithItems shop = new ShopWithItems(fixture);

  @Test
  void twinsFollowItTooAndNeedBothTriggersForThat() {
    shop.items(10);
    fixture.run();
    write(5_000);
    shop.requireTwins();

    for (boolean isLate : List.of(false, true)) {
      String trigger =
          fixture
              .texts(
                  "select quote_ident(tgname) from pg_trigger where tgrelid = 'item'::regclass and"
                      + " tgname like '~coatcheck%' and (tgname like '%late') = "
                      + isLate)
              .getFirst();
      fixture.execute("alter table item enable trigger " + trigger);
      write(isLate ? 5_002 : 5_001);
      assertThatThrownBy(shop::requireTwins).as(trigger).isInstanceOf(AssertionError.class);
      fixture.execute("alter table item enable always trigger " + trigger, "truncate item");
    }
  }

  private void write(int comesSecond) {
    try (TestSession replica = fixture.sql().session()) {
      replica.execute(
          "set session_replication_role = replica",
          "insert into item (order_id) values (7)",
          "update item set order_id = 8 where order_id = 7");
      replica.begin(
          "insert into item (order_id) values (%d)".formatted(comesSecond),
          "insert into orders (id) values (%d)".formatted(comesSecond));
      replica.commit();
    }
  }
}
