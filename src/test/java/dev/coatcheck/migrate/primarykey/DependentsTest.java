package dev.coatcheck.migrate.primarykey;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What depends on a table and its primary key goes along, or is refused before anything is done.
 */
class DependentsTest {
  @RegisterExtension final MigrationFixture fixture = MigrationFixture.apart();
  private final ShopWithItems shop = new ShopWithItems(fixture);

  @Test
  void viewsReplicaIdentityClusterAndGrantsGoAlong() {
    String role = "clerk_" + Long.toHexString(System.nanoTime());
    shop.items(1_000);
    fixture.execute(
        "create view shown as select o.id, count(*) as items from orders o"
            + " join item i on i.order_id = o.id group by o.id, o.created_at",
        "create materialized view kept as select id, created_at from orders",
        "create unique index on kept (id)",
        "alter table orders replica identity using index orders_pkey",
        "alter table orders cluster on orders_pkey",
        "comment on constraint orders_pkey on orders is 'kept'",
        "comment on constraint item_order_id_fkey on item is 'kept too'",
        "create role " + role,
        "grant usage on item_id_seq to " + role,
        "grant select (id, order_id), insert (order_id), update (order_id) on item to " + role);
    TableMigration run = fixture.run();
    try {
      for (int i = 0; i < 2; i++) {
        requireDependents(role);
        fixture.switchKey(run);
        shop.requirePrimaryKey("snowflake_id");
        requireDependents(role);
        assertThat(identity()).containsExactly("id");
        fixture.undo(run, Phase.SWITCH);
        shop.requirePrimaryKey("id");
      }
      requireDependents(role);
      fixture.undo(run, Phase.EXPAND);
      requireDependents(role);
      assertThat(identity()).containsExactly("id");
      assertThat(clustered()).isEqualTo("orders_pkey");
    } finally {
      fixture.execute("drop owned by " + role, "drop role " + role);
    }
  }

  @Test
  @Tag("faults")
  void theIndexOfThePrimaryKeyKeepsWhatItHasBesideItsColumn() {
    String tablespace = "fast_" + Long.toHexString(System.nanoTime());
    fixture.orders(50);
    fixture.execute(
        "set allow_in_place_tablespaces = on",
        "create tablespace %s location ''".formatted(tablespace));
    try {
      fixture.execute(
          "alter table orders drop constraint orders_pkey",
          "alter table orders add primary key (id) include (created_at)"
              + " with (fillfactor = 70, deduplicate_items = off) using index tablespace "
              + tablespace,
          "comment on index orders_pkey is 'kept'",
          "alter table orders replica identity using index orders_pkey");
      List<String> before = primaryKey();
      TableMigration run = fixture.run();
      for (int i = 0; i < 2; i++) {
        fixture.switchKey(run);
        assertThat(primaryKey())
            .map(text -> text.replace("(snowflake_id)", "(id)").replace(" other", " chosen"))
            .isEqualTo(before);
        fixture.undo(run, Phase.SWITCH);
      }
      fixture.undo(run, Phase.EXPAND);
      assertThat(primaryKey()).isEqualTo(before);
    } finally {
      fixture.execute("drop table orders", "drop tablespace " + tablespace);
    }
  }

  /** Its index, with the comment, and whether the replica identity is said to be that index. */
  private List<String> primaryKey() {
    return fixture.texts(
        """
        select format('%s in %s, %s, %s', pg_get_indexdef(i.indexrelid), t.spcname,
                      obj_description(i.indexrelid, 'pg_class'),
                      case when i.indisreplident then 'chosen' else 'other' end)
          from pg_index i
          join pg_class c on c.oid = i.indexrelid
          join pg_tablespace t on t.oid = c.reltablespace
         where i.indrelid = 'orders'::regclass and i.indisprimary
        """);
  }

  @Test
  void aRoleMayDoWithTheNewKeyWhatItMayDoWithTheOldOne() {
    String role = "reader_" + Long.toHexString(System.nanoTime());
    fixture.orders(10);
    fixture.execute(
        "create role " + role,
        "grant select (id, created_at), references (id), update (created_at) on orders to " + role);
    try {
      fixture.run();
      assertThat(
              fixture.texts(
                  "select p from unnest(array['select', 'insert', 'update', 'references']) p"
                      + " where has_column_privilege('%s', 'orders', 'snowflake_id', p)"
                          .formatted(role)))
          .containsExactly("select", "references");
    } finally {
      fixture.execute("drop owned by " + role, "drop role " + role);
    }
  }

  /** As in a database that still has the strings of an old version. */
  @Test
  @Tag("faults")
  void stringsWithEscapesAsADefaultOfTheDatabaseHinderNoStep() {
    shop.items(10);
    fixture.execute(
        """
        do $$ begin
          execute format('alter database %I set standard_conforming_strings = off',
                         current_database());
        end $$
        """,
        "create table basket (order_id bigint default 7 references orders on delete set default)",
        "insert into basket values (3)");
    TableMigration run = fixture.run();
    fixture.switchKey(run);
    fixture.execute("delete from orders where id = 3");
    assertThat(
            fixture.count(
                "select count(*) from basket b join orders o on o.snowflake_id ="
                    + " b.order_id_snowflake_id where b.order_id = 7 and o.id = 7"))
        .isOne();
    fixture.undo(run, Phase.EXPAND);
  }

  /**
   * Foreign keys act in the order in which they were made: here the first takes a row along before
   * the second asks whether a row refers to the order.
   */
  @Tag("faults")
  @Test
  void foreignKeysActInTheSameOrderAsBefore() {
    shop.items(10);
    fixture.execute(
        "create table transfer (target_id bigint, origin_id bigint)",
        "alter table transfer"
            + " add foreign key (origin_id) references orders on delete cascade,"
            + " add foreign key (target_id) references orders",
        "insert into transfer select n, n from generate_series(1, 100) n");
    requireTransfersGoAlong(1);
    TableMigration run = fixture.run();
    requireTransfersGoAlong(2);
    fixture.switchKey(run);
    requireTransfersGoAlong(3);
    fixture.undo(run, Phase.SWITCH);
    requireTransfersGoAlong(4);
    fixture.undo(run, Phase.EXPAND);
    requireTransfersGoAlong(5);
  }

  private void requireTransfersGoAlong(long order) {
    fixture.execute("delete from orders where id = " + order);
    assertThat(fixture.count("select count(*) from transfer where target_id = " + order)).isZero();
    assertThat(
            fixture.texts(
                "select conname::text from pg_constraint where conrelid = 'transfer'::regclass"
                    + " and conname like 'transfer%' order by oid"))
        .containsExactly("transfer_origin_id_fkey", "transfer_target_id_fkey");
  }

  private void requireDependents(String role) {
    try (TestSession clerk = fixture.sql().session()) {
      clerk.execute(
          "set role " + role,
          "insert into item (order_id) values (3)",
          "update item set order_id = 4 where id = 4");
    }
    fixture.execute(
        "refresh materialized view concurrently kept",
        "insert into orders default values",
        "update orders set created_at = now() where id = 9");
    assertThat(fixture.count("select count(*) from shown")).isPositive();
    assertThat(clustered()).isNotNull();
    assertThat(
            fixture.texts(
                "select obj_description(oid, 'pg_constraint') from pg_constraint"
                    + " where conname in ('orders_pkey', 'item_order_id_fkey') order by 1"))
        .containsExactly("kept", "kept too");
    assertThat(
            fixture.texts(
                "select pg_get_constraintdef(oid) from pg_constraint where contype = 'f'"
                    + " and conrelid = 'item'::regclass and conkey = '{2}'"))
        .containsExactly("FOREIGN KEY (order_id) REFERENCES orders(id) ON DELETE CASCADE");
  }

  /** The columns that a subscriber finds a row by. */
  private List<String> identity() {
    return fixture.texts(
        """
        select a.attname::text from pg_class c
          join pg_index i on i.indrelid = c.oid
           and (i.indisreplident or c.relreplident = 'd' and i.indisprimary)
          join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
         where c.oid = 'orders'::regclass
        """);
  }

  private String clustered() {
    return fixture
        .texts(
            "select indexrelid::regclass::text from pg_index"
                + " where indrelid = 'orders'::regclass and indisclustered")
        .getFirst();
  }

  @Test
  void whatGroupsByTheKeyIsRefusedAtPlan() {
    shop.items(10);
    fixture.execute(
        "create materialized view grouped as select o.id, o.created_at, count(*)"
            + " from orders o join item i on i.order_id = o.id group by o.id");
    assertThat(fixture.refused("orders"))
        .extracting(Diagnostic::code)
        .contains("view_groups_by_key");
  }

  @Test
  void anUndoThatAnObjectOfTheApplicationPreventsSaysWhatToDo() {
    shop.items(10);
    TableMigration run = fixture.run();
    fixture.execute("create view by_twin as select order_id_snowflake_id from item");
    fixture.beginUndo(run, Phase.EXPAND);
    assertThat(fixture.failure(run))
        .contains(
            "view public.by_twin depends on column order_id_snowflake_id of table public.item."
                + " Drop or change what depends on it; then undo again.")
        .doesNotContain("CASCADE");
    fixture.execute("drop view by_twin");
    fixture.undo(run, Phase.EXPAND);
  }

  /** It would run as our user. */
  @Test
  @Tag("faults")
  void aDefaultThatIsNoConstantIsRefusedWhereItsForeignKeySetsIt() {
    shop.items(10);
    fixture.execute(
        "create table called (by_role name)",
        """
        create function favourite() returns bigint language plpgsql as $$ begin
          insert into called values (current_user); return 1; end $$
        """,
        "create table basket (order_id bigint default favourite()"
            + " references orders on delete set default)");
    TableMigration run = fixture.plan();
    fixture.start(run);
    assertThat(fixture.failure(run))
        .contains("the default of public.basket.order_id is not a constant", "favourite()");
    assertThat(fixture.texts("select * from called")).isEmpty();

    fixture.execute("alter table basket alter column order_id set default 7");
    shop.retry(run);
    fixture.execute(
        "insert into basket default values",
        "insert into basket values (9)",
        "delete from orders where id = 9");
    assertThat(
            fixture.count(
                "select count(*) from basket b join orders o on o.snowflake_id ="
                    + " b.order_id_snowflake_id where b.order_id = 7 and o.id = 7"))
        .isEqualTo(2);
  }
}
