package dev.coatcheck.migrate.primarykey;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.sql.TestSql;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Columns that refer to the legacy IDs get twins that refer to the new keys. Every test runs before
 * the switch, after it, and after its undo.
 */
@Tag("faults")
class ChildrenTest {
  /** A child with each rule, and one with a key that is checked at the commit. */
  private static final List<String> CHILDREN =
      List.of(
          "create table cascading (id bigserial primary key,"
              + " order_id bigint not null references orders on delete cascade)",
          "create table nulled (id bigserial primary key,"
              + " order_id integer references orders on delete set null)",
          "create table defaulted (id bigserial primary key,"
              + " order_id bigint default 1 references orders on delete set default)",
          "create table restricted (id bigserial primary key,"
              + " order_id bigint not null references orders on delete restrict)",
          "create table plain (order_id bigint references orders)",
          "create table deferred (id bigserial primary key, order_id bigint not null"
              + " references orders deferrable initially deferred)",
          "create table \"Odd 'names'\" (id bigserial primary key,"
              + " \"the <Order>\" bigint references orders, other bigint references orders)",
          "create table parted (order_id bigint references orders on delete cascade, part int)"
              + " partition by list (part)",
          "create table parted_1 partition of parted for values in (1)",
          "create table parted_2 partition of parted for values in (2)",
          "create table pagila (order_id bigint, part int) partition by list (part)",
          "create table pagila_1 partition of pagila for values in (1)",
          "create table pagila_2 partition of pagila for values in (2)",
          "alter table pagila_1 add foreign key (order_id) references orders on delete cascade");

  @RegisterExtension static final MigrationFixture FIXTURE = MigrationFixture.apart();
  private static final TestSql SQL = FIXTURE.sql();
  private static TableMigration run;

  @BeforeAll
  static void migrate() {
    SQL.execute(
        "create table orders (id bigserial primary key, created_at timestamptz default now(),"
            + " before_id bigint references orders)",
        "insert into orders (created_at) select now() - make_interval(secs => 2000 - n)"
            + " from generate_series(1, 500) n",
        "update orders set before_id = id - 1 where id > 1");
    CHILDREN.forEach(SQL::execute);
    for (String table : List.of("cascading", "nulled", "defaulted", "restricted", "deferred")) {
      SQL.execute(
          "insert into %s (order_id) select 1 + n %% 400 from generate_series(1, 1000) n"
              .formatted(table));
    }
    SQL.execute(
        "insert into parted select 1 + n % 400, 1 + n % 2 from generate_series(1, 1000) n",
        "insert into pagila select 1 + n % 400, 1 + n % 2 from generate_series(1, 1000) n",
        "insert into plain select 1 + n % 400 from generate_series(1, 1000) n",
        "insert into \"Odd 'names'\" (\"the <Order>\", other) select 1 + n % 400, null"
            + " from generate_series(1, 1000) n");
    run = FIXTURE.run();
  }

  @Test
  void twinsFollowBeforeTheSwitchAfterItAndAfterItsUndo() {
    requireAll(false);
    FIXTURE.switchKey(run);
    requireAll(true);
    FIXTURE.undo(run, Phase.SWITCH);
    requireAll(false);
    FIXTURE.switchKey(run);
    requireAll(true);
    FIXTURE.undo(run, Phase.EXPAND);
    assertThat(
            SQL.texts(
                "select attrelid::regclass::text from pg_attribute where not attisdropped"
                    + " and attname like '%snowflake_id' and attrelid >= 16384"
                    + " and attrelid in (select oid from pg_class where relkind = 'r'"
                    + " and relnamespace = 'public'::regnamespace)"))
        .isEmpty();
    assertThat(SQL.texts("select tgname::text from pg_trigger where tgname like '~coatcheck%'"))
        .isEmpty();
  }

  private static void requireAll(boolean isSwitched) {
    requireTwins();
    insertsAreFollowed();
    deletesFollowTheirRules();
    aChildMayComeFirst();
    aRowMayReferToItself();
    if (isSwitched) {
      theTwinMayBeWritten();
    }
    requireTwins();
  }

  /** Both columns name the same row, or none. */
  private static void requireTwins() {
    for (String column :
        List.of(
            "orders.before_id",
            "cascading.order_id",
            "nulled.order_id",
            "defaulted.order_id",
            "restricted.order_id",
            "plain.order_id",
            "parted.order_id",
            "pagila.order_id",
            "deferred.order_id")) {
      String table = column.substring(0, column.indexOf('.'));
      String name = column.substring(column.indexOf('.') + 1);
      assertThat(
              SQL.number(
                  "select count(*) from %1$s c left join orders o on o.id = c.%2$s where c.%2$s_snowflake_id is distinct from o.snowflake_id"
                      .formatted(table, name)))
          .as(column)
          .isZero();
    }
    assertThat(
            SQL.number(
                "select count(*) from \"Odd 'names'\" c left join orders o on o.id = c.\"the"
                    + " <Order>\" where c.\"the <Order>_snowflake_id\" is distinct from"
                    + " o.snowflake_id"))
        .isZero();
    assertThat(SQL.texts("select conname::text from pg_constraint where not convalidated"))
        .isEmpty();
    assertThat(
            SQL.number(
                "select count(*) from pg_constraint where contype = 'f' and conparentid = 0"
                    + " and conrelid = 'parted'::regclass"))
        .as("foreign keys of the partitioned table itself")
        .isEqualTo(2);
  }

  private static void insertsAreFollowed() {
    long id = order();
    SQL.execute(
        "insert into cascading (order_id) values (%d)".formatted(id),
        "insert into parted values (%1$d, 1), (%1$d, 2)".formatted(id),
        "update parted set part = 3 - part where order_id = %d".formatted(id),
        "insert into pagila values (%1$d, 1), (%1$d, 2)".formatted(id),
        "insert into nulled (order_id) values (%d), (null)".formatted(id),
        "insert into defaulted default values",
        "insert into defaulted (order_id) values (null)",
        "update plain set order_id = %d where order_id = 7".formatted(id),
        "update plain set order_id = null where order_id = 8",
        "update plain set order_id = 7 where order_id = %d".formatted(id));
    assertThat(SQL.number("select count(*) from defaulted where order_id is null"))
        .as("an explicit null is no default")
        .isPositive();
  }

  private static void deletesFollowTheirRules() {
    long id = order();
    SQL.execute(
        "insert into cascading (order_id) values (%d)".formatted(id),
        "insert into nulled (order_id) values (%d)".formatted(id),
        "insert into defaulted (order_id) values (%d)".formatted(id));
    SQL.execute("insert into parted values (%1$d, 1), (%1$d, 2)".formatted(id));
    long defaults = SQL.number("select count(*) from defaulted where order_id = 1");
    long nulls = SQL.number("select count(*) from nulled where order_id is null");

    SQL.execute("delete from orders where id = %d".formatted(id));

    assertThat(SQL.number("select count(*) from cascading where order_id = " + id)).isZero();
    assertThat(SQL.number("select count(*) from parted where order_id = " + id)).isZero();
    assertThat(SQL.number("select count(*) from nulled where order_id is null"))
        .isEqualTo(nulls + 1);
    assertThat(SQL.number("select count(*) from defaulted where order_id = 1"))
        .isEqualTo(defaults + 1);
    long held = order();
    SQL.execute("insert into restricted (order_id) values (%d)".formatted(held));
    org.assertj.core.api.Assertions.assertThatThrownBy(
            () -> SQL.execute("delete from orders where id = %d".formatted(held)))
        .hasStackTraceContaining("violates");
  }

  private static void aChildMayComeFirst() {
    long id = SQL.number("select nextval('orders_id_seq')");
    SQL.execute(
        "begin; insert into deferred (order_id) values (%1$d);".formatted(id)
            + " insert into orders (id) values (%1$d); commit".formatted(id),
        "with child as (insert into cascading (order_id)"
            + " values ((select last_value from orders_id_seq) + 1) returning 1)"
            + " insert into orders (before_id) select null where (select count(*) from child) = 1");
  }

  private static void aRowMayReferToItself() {
    long id = SQL.number("select nextval('orders_id_seq')");
    SQL.execute(
        "insert into orders (id, before_id) values (%1$d, %1$d)".formatted(id),
        "insert into orders (id, before_id)"
            + " select nextval('orders_id_seq'), currval('orders_id_seq') + 1"
            + " from generate_series(1, 1)"
            + " union all select nextval('orders_id_seq'), null");
  }

  private static void theTwinMayBeWritten() {
    long id = order();
    String key = SQL.text("select snowflake_id::text from orders where id = " + id);
    SQL.execute(
        "insert into cascading (order_id_snowflake_id) values (%s)".formatted(key),
        "insert into plain (order_id_snowflake_id) values (%s)".formatted(key),
        "update nulled set order_id_snowflake_id = %s where id in (select min(id) from nulled)"
            .formatted(key));
    assertThat(SQL.number("select count(*) from cascading where order_id = " + id)).isOne();
    assertThat(SQL.number("select count(*) from nulled where order_id = " + id)).isOne();
  }

  private static long order() {
    return SQL.number("insert into orders (created_at) values (now()) returning id");
  }
}
