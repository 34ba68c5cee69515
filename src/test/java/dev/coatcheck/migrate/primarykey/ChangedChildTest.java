package dev.coatcheck.migrate.primarykey;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.table.Phase;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names, owners and foreign keys of a child change while a run is under way. */
class ChangedChildTest {
  private static final String ITEM =
      "create table item (id bigserial primary key,"
          + " order_id bigint not null references orders on delete cascade, n int);"
          + " insert into item (order_id) select id from orders";

  @RegisterExtension final MigrationFixture fixture = MigrationFixture.apart();
  private final ShopWithItems shop = new ShopWithItems(fixture);

  private static final List<String> RENAMES =
      List.of(
          "alter table item rename column order_id to \"Order's\"",
          "alter table item rename to \"Line\"",
          "create schema sales",
          "alter table \"Line\" set schema sales",
          "alter table orders rename column id to number",
          "alter table orders rename to purchases");

  private static final List<String> BACK =
      List.of(
          "alter table purchases rename to orders",
          "alter table orders rename column number to id",
          "alter table sales.\"Line\" set schema public",
          "alter table \"Line\" rename to item",
          "alter table item rename column \"Order's\" to order_id");

  /** Right after each change, when the functions still have the old names, and later. */
  @Tag("faults")
  @Test
  void twinsFollowUnderAnyName() {
    shop.items(1_000);
    TableMigration run = fixture.run();
    for (String rename : RENAMES) {
      fixture.execute(rename);
      write();
    }
    fixture.await(() -> functions().stream().allMatch(ChangedChildTest::isNew));
    write();

    fixture.switchKey(run);
    assertThat(functions()).allMatch(ChangedChildTest::isNew);
    write();
    fixture.execute(
        "insert into sales.\"Line\" (order_id_snowflake_id) select max(snowflake_id)"
            + " from purchases");
    write();

    BACK.forEach(fixture::execute);
    fixture.execute(
        "insert into item (order_id_snowflake_id) select max(snowflake_id) from orders");
    shop.requireTwins();
    fixture.await(() -> functions().stream().noneMatch(ChangedChildTest::isNew));
    assertThat(leading()).as("the functions know of the switch").isEqualTo("true");
    long renamed = renamed(run);
    shop.requireSound();
    assertThat(renamed(run)).as("a name is news only once").isEqualTo(renamed);
    fixture.undo(run, Phase.EXPAND);
    shop.requireBare();
  }

  private long renamed(TableMigration run) {
    fixture.await(
        () -> fixture.now(run).target().children().getFirst().column().equals("order_id"));
    return fixture.migrations().journal().events(run.id(), 0).stream()
        .filter(event -> event.kind().equals("renamed"))
        .count();
  }

  private void write() {
    String child = table("%order_id_snowflake_id");
    String parent = table("snowflake_id");
    String fk = column(child, 2);
    String key = column(parent, 1);
    fixture.execute(
        "insert into %s default values".formatted(parent),
        "insert into %s (%s) select max(%s) from %s".formatted(child, fk, key, parent),
        "with c as (insert into %1$s (%2$s) select max(%3$s) + 1 from %4$s returning %2$s) insert into %4$s (%3$s) select %2$s from c"
            .formatted(child, fk, key, parent),
        "select setval('orders_id_seq', (select max(%s) from %s))".formatted(key, parent),
        "update %s set %s = 5 where id = 5".formatted(child, fk));
    assertThat(
            fixture.column(
                "select c.id from %s c left join %s p on p.%s = c.%s where c.order_id_snowflake_id is distinct from p.snowflake_id"
                    .formatted(child, parent, key, fk)))
        .isEmpty();
  }

  private String table(String column) {
    return fixture
        .texts(
            "select a.attrelid::regclass::text from pg_attribute a join pg_class c on c.oid ="
                + " a.attrelid and c.relkind = 'r' where a.attname like '"
                + column
                + "' and not a.attisdropped and c.relnamespace::regnamespace::text in"
                + " ('public', 'sales')")
        .getFirst();
  }

  private String column(String table, int number) {
    return fixture
        .texts(
            "select quote_ident(attname) from pg_attribute where attrelid = '%s'::regclass and attnum = %d"
                .formatted(table, number))
        .getFirst();
  }

  private List<String> functions() {
    return fixture.texts("select prosrc from pg_proc where proname like 'on\\_ref\\_public%'");
  }

  private static boolean isNew(String function) {
    return function.contains("\"Order's\"")
        && function.contains("\"purchases\"")
        && function.contains("\"number\"");
  }

  private String leading() {
    return functions().getFirst().contains("legacy_before or true") ? "true" : "false";
  }

  /** What writes to the child runs as its owner, whoever that is now. */
  @Test
  void aFunctionFollowsTheOwnerAndAChildThatIsDroppedIsLeftOut() {
    shop.items(100);
    fixture.execute("create table note (order_id bigint references orders on delete set null)");
    String role = "owner_" + Long.toHexString(System.nanoTime());
    TableMigration run = fixture.run();
    fixture.execute("create role " + role);
    try {
      fixture.execute("grant all on orders to " + role, "alter table item owner to " + role);
      fixture.await(
          () ->
              fixture
                  .texts(
                      "select pg_get_userbyid(proowner)::text from pg_proc where proname like"
                          + " 'fill\\_ref\\_%'")
                  .contains(role));
      fixture.execute("drop table note");

      fixture.switchKey(run);

      shop.requireSound();
      fixture.undo(run, Phase.EXPAND);
      shop.requireBare();
    } finally {
      fixture.execute(
          "alter table item owner to current_user", "drop owned by " + role, "drop role " + role);
    }
  }

  /** The old rules would act against the new: what stands is undone first. */
  @Test
  @Tag("faults")
  void aForeignKeyWithOtherRulesIsSaidAndTakenAfterAnUndo() {
    shop.items(1_000);
    TableMigration run = fixture.run();
    fixture.execute(
        "alter table item drop constraint item_order_id_fkey,"
            + " add constraint item_order_id_fkey foreign key (order_id) references orders",
        "alter table item rename column order_id to of_order");
    String why = shop.failedSwitch(run);
    assertThat(why).contains("public.item", "Undo from children on");
    assertThat(shop.failedSwitch(run)).as("a retry alone is of no use").isEqualTo(why);

    fixture.undo(run, Phase.CHILDREN);
    fixture.resume(run);
    assertThat(fixture.failure(run)).contains("Retry takes them as they are now");
    shop.retry(run);
    fixture.execute("alter table item rename column of_order to order_id");
    shop.requireSound();
    assertThat(
            fixture.texts(
                "select pg_get_constraintdef(oid) from pg_constraint where conname like"
                    + " 'fkey_%'"))
        .containsExactly("FOREIGN KEY (order_id_snowflake_id) REFERENCES orders(snowflake_id)");
    fixture.undo(run, Phase.EXPAND);
    assertThat(shop.leftovers()).isEmpty();
  }

  /** The child keeps the names of its objects, and another child comes along. */
  @Test
  @Tag("faults")
  void aNewForeignKeyIsTakenByARetryBesideARenamedChild() {
    shop.items(1_000);
    TableMigration run = fixture.run();
    fixture.execute(
        "alter table item rename column order_id to of_order",
        "create table note (order_id bigint references orders on delete set null)",
        "insert into note select id from orders limit 50");
    assertThat(shop.failedSwitch(run)).contains("public.note.order_id", "Retry takes them");

    shop.retry(run);

    fixture.execute("alter table item rename column of_order to order_id");
    shop.requirePrimaryKey("snowflake_id");
    shop.requireSound();
    assertThat(fixture.count("select count(*) from note where order_id_snowflake_id is null"))
        .isZero();
    assertThat(
            fixture.texts(
                "select attname::text from pg_attribute where attrelid = 'item'::regclass"
                    + " and attnum > 0 order by attnum"))
        .containsExactly("id", "order_id", "n", "order_id_snowflake_id");
    fixture.undo(run, Phase.EXPAND);
    assertThat(shop.leftovers()).isEmpty();
  }

  /** Its column gets a twin before it goes. */
  @ParameterizedTest
  @ValueSource(strings = {"not null", "null"})
  @Tag("faults")
  void aForeignKeyThatComesAfterTheSwitchIsTakenByARetryOfTheLastPhase(String nullable) {
    shop.items(1_000);
    TableMigration run = fixture.switchKey(fixture.run());
    fixture.execute(
        "create table note (order_id bigint " + nullable + " references orders (id))",
        "insert into note select id from orders limit 50");
    MigrationFixture.done(fixture.contract(run, List.of("old_column", "row_shape")));
    assertThat(fixture.failure(run)).contains("public.note.order_id", "Retry takes them");

    fixture.retry(run);

    fixture.await(run, RunState.CONTRACTED);
    assertThat(
            fixture.count(
                "select count(*) from note n"
                    + " join orders o on o.snowflake_id = n.order_id_snowflake_id"))
        .isEqualTo(50);
    assertThat(
            fixture.texts(
                "select attname::text from pg_attribute where attrelid = 'note'::regclass"
                    + " and attnum > 0 and not attisdropped"))
        .containsExactly("order_id_snowflake_id");
  }

  /** Its objects are not those of the child that had the name before. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "alter table item rename to item_old; " + ITEM,
        "drop table item; " + ITEM,
        "alter table item rename column order_id to of_order;"
            + " alter table item alter column of_order drop not null;"
            + " alter table item add column order_id bigint references orders on delete cascade"
      })
  @Tag("faults")
  void aChildThatTakesTheNameOfAnotherGetsATwinOfItsOwn(String change) {
    shop.items(1_000);
    TableMigration run = fixture.run();
    fixture.execute(change.split("; ?"));
    assertThat(shop.failedSwitch(run)).contains("public.item.order_id", "Retry takes them");

    shop.retry(run);

    shop.requirePrimaryKey("snowflake_id");
    fixture.execute("insert into item (order_id) select id from orders limit 10");
    assertThat(
            fixture.column(
                "select t.conrelid::bigint from pg_constraint t where t.contype = 'f'"
                    + " and t.confrelid = 'orders'::regclass group by 1"
                    + " having count(*) filter (where pg_get_constraintdef(oid) like '%snow%')"
                    + " * 2 <> count(*)"))
        .as("as many twins as columns")
        .isEmpty();
    fixture.undo(run, Phase.EXPAND);
    assertThat(shop.leftovers()).isEmpty();
  }

  /** The application goes on without the column, and the undo finds what is left of its twin. */
  @Test
  @Tag("faults")
  void aColumnThatIsDroppedStopsNoWriterOfTheChildAndIsFreed() {
    shop.items(1_000);
    TableMigration run = fixture.run();
    fixture.execute(
        "alter table item drop column order_id cascade",
        "insert into item (n) values (1)",
        "update item set n = 2 where id = 5");
    assertThat(shop.failedSwitch(run)).contains("public.item.order_id", "Undo from children on");

    fixture.undo(run, Phase.CHILDREN);

    assertThat(
            fixture.texts(
                "select tgname::text from pg_trigger where tgrelid = 'item'::regclass"
                    + " and not tgisinternal"))
        .isEmpty();
    fixture.resume(run);
    fixture.await(run, RunState.DONE);
    fixture.undo(run, Phase.EXPAND);
    assertThat(shop.leftovers()).isEmpty();
  }

  /** The children outlive the table, and their writers must not meet our triggers. */
  @Test
  @Tag("faults")
  void childrenOfATableThatIsDroppedGoOnAndAreFreed() {
    shop.items(1_000);
    TableMigration run = fixture.run();
    fixture.execute(
        "drop table orders cascade",
        "insert into item (order_id) values (5), (1000000)",
        "update item set order_id = 6 where id = 5",
        "update item set order_id = order_id + 1",
        "delete from item where id = 7");

    fixture.undo(run, Phase.EXPAND);

    assertThat(shop.leftovers()).isEmpty();
    fixture.execute("insert into item (order_id) values (5)");
  }

  /** By hand: nothing can be followed, and the application goes on. */
  @Test
  @Tag("faults")
  void aNewColumnThatIsDroppedDoesNotHurtTheChildren() {
    shop.items(1_000);
    TableMigration run = fixture.run();
    fixture.execute(
        "do $$ declare t name; begin for t in select tgname from pg_trigger where tgname like"
            + " '~coatcheck%' and tgrelid = 'orders'::regclass loop execute format('drop"
            + " trigger %I on orders', t); end loop; end $$",
        "alter table orders drop column snowflake_id cascade",
        "insert into item (order_id) select 5 from generate_series(1, 10)",
        "update item set order_id = 6 where id = 5");

    fixture.undo(run, Phase.EXPAND);

    shop.requireBare();
  }
}
