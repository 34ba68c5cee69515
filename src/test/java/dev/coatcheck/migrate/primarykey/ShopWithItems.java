package dev.coatcheck.migrate.primarykey;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import java.util.List;
import java.util.stream.Stream;

/** A table of orders and a child of it, and what every test asks of them. */
record ShopWithItems(MigrationFixture fixture) {
  static final int ORDERS = 300;

  void items(int items) {
    fixture.ordersWithItems(ORDERS, items);
  }

  /** A switch that fails; says why. */
  String failedSwitch(TableMigration run) {
    if (fixture.now(run).status().state() == RunState.DONE) {
      fixture.beginSwitch(run);
    } else {
      fixture.retry(run);
    }
    return fixture.failure(run);
  }

  void retry(TableMigration run) {
    fixture.retry(run);
    fixture.await(run, RunState.DONE);
  }

  /** All that a switch could change. */
  List<String> catalog() {
    return Stream.of(
            "select format('%s %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid),"
                + " conindid::regclass) from pg_constraint"
                + " where conrelid in ('orders'::regclass, 'item'::regclass) order by 1",
            "select format('%s %s', indexrelid::regclass, indisprimary) from pg_index"
                + " where indrelid in ('orders'::regclass, 'item'::regclass) order by 1",
            "select md5(prosrc) from pg_proc"
                + " where pronamespace = 'coatcheck_migration'::regnamespace order by 1")
        .flatMap(query -> fixture.texts(query).stream())
        .toList();
  }

  /** And the next thousand rows are right too. */
  void requireSound() {
    fixture.execute(
        "insert into orders select from generate_series(1, 1000)",
        "insert into item (order_id) select id from orders order by id desc limit 1000");
    fixture.requireOrderedKeys();
    requireTwins();
    assertThat(fixture.texts("select conname::text from pg_constraint where not convalidated"))
        .isEmpty();
    assertThat(
            fixture.texts(
                "select indexrelid::regclass from pg_index where not indisvalid or not indisready"))
        .isEmpty();
  }

  void requireTwins() {
    assertThat(
            fixture.column(
                "select i.id from item i left join orders o on o.id = i.order_id"
                    + " where i.order_id_snowflake_id is distinct from o.snowflake_id"))
        .isEmpty();
  }

  void requirePrimaryKey(String column) {
    assertThat(
            fixture.texts(
                "select pg_get_constraintdef(oid) from pg_constraint where contype = 'p'"
                    + " and conrelid = 'orders'::regclass"))
        .containsExactly("PRIMARY KEY (" + column + ")");
  }

  /** Nothing of a run is left but the archive. */
  void requireBare() {
    assertThat(leftovers()).isEmpty();
    assertThat(
            fixture.texts(
                "select indexrelid::regclass::text from pg_index where indrelid in"
                    + " ('orders'::regclass, 'item'::regclass) order by 1"))
        .containsExactly("item_pkey", "orders_pkey");
    requirePrimaryKey("id");
    fixture.execute(
        "insert into orders default values",
        "insert into item (order_id) select max(id) from orders",
        "delete from orders");
    assertThat(fixture.count("select count(*) from item")).isZero();
  }

  List<String> leftovers() {
    return Stream.of(
            "select tgname::text from pg_trigger where tgname like '~coat%'",
            "select format('%s.%s', attrelid::regclass, attname) from pg_attribute"
                + " where attname like '%snowflake_id' and not attisdropped and attnum > 0"
                + " and attrelid in (select oid from pg_class where relkind = 'r'"
                + " and relnamespace = 'public'::regnamespace)",
            "select proname::text from pg_proc"
                + " where pronamespace = to_regnamespace('coatcheck_migration')")
        .flatMap(query -> fixture.texts(query).stream())
        .toList();
  }
}
