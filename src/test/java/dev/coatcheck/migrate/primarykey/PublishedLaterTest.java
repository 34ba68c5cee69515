package dev.coatcheck.migrate.primarykey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.migrate.run.ActionOutcome;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Publications come, change and go while a run is on the table: at every moment the application can
 * update and delete rows, for which Postgres wants a replica identity.
 */
@Tag("faults")
class PublishedLaterTest {
  private static final int ROWS = 300;

  @RegisterExtension final MigrationFixture fixture = MigrationFixture.apart();
  private final ShopWithItems shop = new ShopWithItems(fixture);

  /** The switch leaves the identity with the old key, and contract takes the old key away. */
  @Test
  void oneOfBeforeTheSwitchKeepsAnIdentityThroughContract() {
    shop.items(ROWS);
    TableMigration run = fixture.run();
    fixture.execute("create publication sold for table orders, item");
    write("id");
    fixture.switchKey(run);
    write("id");
    assertThat(identity("orders")).containsExactly("id");
    fixture.undo(run, Phase.SWITCH);
    write("id");
    fixture.switchKey(run);

    fixture.contract(run);

    write("snowflake_id");
    assertThat(identity("orders")).containsExactly("snowflake_id");
  }

  /** Nor does an undo take the index that the identity has moved to without moving it on. */
  @Test
  void oneOfAfterTheSwitchKeepsAnIdentityThroughEveryUndo() {
    shop.items(ROWS);
    TableMigration run = fixture.switchKey(fixture.run());
    fixture.execute("create publication sold for all tables");
    for (Phase phase :
        List.of(Phase.SWITCH, Phase.PREPARE_SWITCH, Phase.CHILDREN, Phase.INDEX, Phase.EXPAND)) {
      fixture.undo(run, phase);
      write("id");
    }
    assertThat(identity("orders")).containsExactly("id");
    shop.requireBare();
  }

  @Test
  void anIdentityOnTheNewColumnGoesWithItsIndexAndComesBackToThePrimaryKey() {
    shop.items(ROWS);
    TableMigration run = fixture.run();
    fixture.execute(
        "create unique index own on orders (created_at, snowflake_id)",
        "alter table orders alter created_at set not null, replica identity using index own",
        "create publication sold for table orders");
    write("id");

    fixture.undo(run, Phase.EXPAND);

    write("id");
  }

  @Test
  void theIdentityOfAChildMovesToTheIndexLikeItOnTheTwin() {
    shop.items(ROWS);
    fixture.execute(
        "update item set n = id",
        "alter table item alter n set not null, add unique (order_id, n)",
        "alter table item replica identity using index item_order_id_n_key");
    TableMigration run = fixture.switchKey(fixture.run());
    fixture.execute(
        "create publication sold for table item",
        "create unique index on item (order_id_snowflake_id, n)",
        "create unique index deferred on item (order_id_snowflake_id, n)");

    fixture.contract(run);

    fixture.execute("update item set n = -n where id = 7", "delete from item where id = 8");
    assertThat(identity("item")).containsExactly("order_id_snowflake_id", "n");
  }

  @Test
  void oneThatNamesTheOldColumnKeepsItUntilItNamesTheNewOne() {
    shop.items(ROWS);
    TableMigration run = fixture.run();
    fixture.execute(
        "create publication listed for table orders (id)",
        "create publication filtered for table orders where (id > 7)");
    write("id");
    fixture.switchKey(run);
    write("id");
    assertThat(refused(run))
        .hasSize(2)
        .allSatisfy(what -> assertThat(what).contains("publication"))
        .anySatisfy(what -> assertThat(what).contains("listed"))
        .anySatisfy(what -> assertThat(what).contains("filtered"));

    fixture.execute(
        "drop publication filtered",
        "begin; alter publication listed set table orders (snowflake_id);"
            + " alter table orders replica identity default; commit");
    write("id");

    fixture.contract(run);

    write("snowflake_id");
  }

  /** Looked at once more under the lock. */
  @Test
  void oneThatComesBetweenTheLookAndTheLockKeepsTheOldColumn() {
    shop.items(ROWS);
    TableMigration run = fixture.switchKey(fixture.run());
    try (TestSession reader =
        fixture.sql().begin("lock table item in row exclusive mode", "select 1")) {
      MigrationFixture.done(fixture.contract(run, List.of("old_column")));
      await().until(() -> fixture.now(run).status().waitsFor().isPresent());
      fixture.execute(
          "alter table orders replica identity full",
          "create publication late for table orders (id) with (publish = 'insert')");
      reader.commit();
    }

    assertThat(fixture.failure(run))
        .contains("publication")
        .contains("late")
        .contains("then retry");
    fixture.execute("drop publication late");
    fixture.retry(run);
    fixture.await(run, RunState.CONTRACTED);
    write("snowflake_id");
  }

  /** As the application does, by either key. */
  private void write(String key) {
    fixture.execute(
        "insert into orders default values",
        "update orders set created_at = now() where %1$s = (select min(%1$s) from orders)"
            .formatted(key),
        "delete from orders where %1$s = (select max(%1$s) from orders)".formatted(key),
        "update item set n = 1 where id = (select min(id) from item)",
        "delete from item where id = (select max(id) from item)");
  }

  /** The columns that a subscriber finds a row by. */
  private List<String> identity(String table) {
    return fixture.texts(
        """
        select a.attname::text from pg_class c
          join pg_index i on i.indrelid = c.oid
           and (i.indisreplident or c.relreplident = 'd' and i.indisprimary)
          join pg_attribute a on a.attrelid = c.oid and a.attnum = any (i.indkey)
         where c.oid = '%s'::regclass order by array_position(i.indkey::int2[], a.attnum)
        """
            .formatted(table));
  }

  private List<String> refused(TableMigration run) {
    if (fixture.contract(run, List.of("old_column"))
        instanceof
        IdempotentResult.Unkeyed<ActionOutcome>(ActionOutcome.Refused(List<Diagnostic> findings))) {
      return findings.stream().map(Diagnostic::detail).toList();
    }
    throw new AssertionError("not refused");
  }
}
