package dev.coatcheck.migrate.primarykey;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.state.RunState;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.migrate.steps.Phase;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * What depends on a table and its primary key goes along, or is refused before anything is done.
 */
class DependentsTest {
  @Test
  void viewsReplicaIdentityClusterAndGrantsGoAlong() {
    String role = "clerk_" + Long.toHexString(System.nanoTime());
    try (ShopWithItems shop = new ShopWithItems(1_000)) {
      shop.fixture.execute(
          "create view shown as select o.id, count(*) as items from orders o"
              + " join item i on i.order_id = o.id group by o.id, o.created_at",
          "create materialized view kept as select id, created_at from orders",
          "create unique index on kept (id)",
          "alter table orders replica identity using index orders_pkey",
          "alter table orders cluster on orders_pkey",
          "create role " + role,
          "grant usage on item_id_seq to " + role,
          "grant select (id, order_id), insert (order_id), update (order_id) on item to " + role);
      TableMigration run = shop.fixture.run(shop.plan());
      try {
        for (int i = 0; i < 2; i++) {
          requireDependents(shop, role);
          shop.fixture.switchKey(run);
          requireDependents(shop, role);
          assertThat(identity(shop)).containsExactly("id");
          shop.fixture.undo(run, Phase.SWITCH);
        }
        requireDependents(shop, role);
        shop.fixture.undo(run, Phase.EXPAND);
        requireDependents(shop, role);
        assertThat(identity(shop)).containsExactly("id");
        assertThat(clustered(shop)).isEqualTo("orders_pkey");
      } finally {
        shop.fixture.execute("drop owned by " + role, "drop role " + role);
      }
    }
  }

  /**
   * Foreign keys act in the order in which they were made: here the first takes a row along before
   * the second asks whether a row refers to the order.
   */
  @Test
  void foreignKeysActInTheSameOrderAsBefore() {
    try (ShopWithItems shop = new ShopWithItems(10)) {
      shop.fixture.execute(
          "create table transfer (target_id bigint, origin_id bigint)",
          "alter table transfer"
              + " add foreign key (origin_id) references orders on delete cascade,"
              + " add foreign key (target_id) references orders",
          "insert into transfer select n, n from generate_series(1, 100) n");
      requireTransfersGoAlong(shop, 1);
      TableMigration run = shop.fixture.run(shop.plan());
      requireTransfersGoAlong(shop, 2);
      shop.fixture.switchKey(run);
      requireTransfersGoAlong(shop, 3);
      shop.fixture.undo(run, Phase.SWITCH);
      requireTransfersGoAlong(shop, 4);
      shop.fixture.undo(run, Phase.EXPAND);
      requireTransfersGoAlong(shop, 5);
    }
  }

  private static void requireTransfersGoAlong(ShopWithItems shop, long order) {
    shop.fixture.execute("delete from orders where id = " + order);
    assertThat(shop.fixture.count("select count(*) from transfer where target_id = " + order))
        .isZero();
    assertThat(
            shop.fixture.texts(
                "select conname::text from pg_constraint where conrelid = 'transfer'::regclass"
                    + " and conname like 'transfer%' order by oid"))
        .containsExactly("transfer_origin_id_fkey", "transfer_target_id_fkey");
  }

  private static void requireDependents(ShopWithItems shop, String role) {
    try (TestSession clerk = shop.fixture.sql().session()) {
      clerk.execute(
          "set role " + role,
          "insert into item (order_id) values (3)",
          "update item set order_id = 4 where id = 4");
    }
    shop.fixture.execute(
        "refresh materialized view concurrently kept",
        "insert into orders default values",
        "update orders set created_at = now() where id = 9");
    assertThat(shop.fixture.count("select count(*) from shown")).isPositive();
    assertThat(clustered(shop)).isNotNull();
  }

  /** The columns that a subscriber finds a row by. */
  private static List<String> identity(ShopWithItems shop) {
    return shop.fixture.texts(
        """
        select a.attname::text from pg_class c
          join pg_index i on i.indrelid = c.oid
           and (i.indisreplident or c.relreplident = 'd' and i.indisprimary)
          join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
         where c.oid = 'orders'::regclass
        """);
  }

  private static String clustered(ShopWithItems shop) {
    return shop.fixture
        .texts(
            "select indexrelid::regclass::text from pg_index"
                + " where indrelid = 'orders'::regclass and indisclustered")
        .getFirst();
  }

  @Test
  void whatGroupsByTheKeyIsRefusedAtPlan() {
    try (ShopWithItems shop = new ShopWithItems(10)) {
      shop.fixture.execute(
          "create materialized view grouped as select o.id, o.created_at, count(*)"
              + " from orders o join item i on i.order_id = o.id group by o.id");
      assertThat(shop.fixture.refused("orders"))
          .extracting(Diagnostic::code)
          .contains("view_groups_by_key");
    }
  }

  /** It would run as our user. */
  @Test
  void aDefaultThatIsNoConstantIsRefusedWhereItsForeignKeySetsIt() {
    try (ShopWithItems shop = new ShopWithItems(10)) {
      shop.fixture.execute(
          "create table called (by_role name)",
          """
          create function favourite() returns bigint language plpgsql as $$ begin
            insert into called values (current_user); return 1; end $$
          """,
          "create table basket (order_id bigint default favourite()"
              + " references orders on delete set default)");
      TableMigration run = shop.plan();
      shop.fixture.start(run);
      assertThat(shop.fixture.await(run, RunState.FAILED).status().reason().orElseThrow())
          .contains("the default of public.basket.order_id is not a constant", "favourite()");
      assertThat(shop.fixture.texts("select * from called")).isEmpty();

      shop.fixture.execute("alter table basket alter column order_id set default 7");
      shop.retry(run);
      shop.fixture.execute(
          "insert into basket default values",
          "insert into basket values (9)",
          "delete from orders where id = 9");
      assertThat(
              shop.fixture.count(
                  "select count(*) from basket b join orders o on o.snowflake_id ="
                      + " b.order_id_snowflake_id where b.order_id = 7 and o.id = 7"))
          .isEqualTo(2);
    }
  }
}
