package dev.coatcheck.migrate.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.plan.RecordedStatements.Recorded;
import dev.coatcheck.migrate.source.SearchPath;
import dev.coatcheck.migrate.source.TableName;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which statements of applications are recognised as trouble. */
class StatementsTest {
  private final Statements orders =
      new Statements(new TableName("shop", "orders"), "id", "orders_pkey");
  private final Statements quoted =
      new Statements(new TableName("Shop", "My \"Orders\""), "Id", "My_pkey");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "select * from orders",
        "SELECT\n\t*\nFROM shop.Orders o",
        "select o.* from shop.orders o where id = $1",
        "select x, o.* from \"orders\" as o",
        "insert into orders (x) values ($1) returning *",
        "update orders set x = 1 returning orders.*",
        "select distinct * from orders",
        "select a, * from orders",
        "select * from lines l, orders",
        "select * from (lines l join orders o on true)",
        "select * from lines l join x on l.a = x.a, orders o",
        "select distinct on (a) * from orders",
        "delete from orders where id = $1 returning *",
        "update lines set a = 1 from orders returning *",
        "with o as (select * from orders) select id from o",
        "select (o).* from orders o",
        "/* why */ select * /* all /* of */ it */ from only orders",
      })
  void allColumns(String statement) {
    assertThat(orders.takesAllColumns(sql(statement))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "select count(*) from orders",
        "select x * 2 from orders",
        "select * from orders_old",
        "select * from my_orders",
        "select * from \"Orders\"\"\"",
        "select id from orders",
        "select * from ordersé",
        "select * from other.orders",
        "select * from lines as orders",
        "select l.* from orders o join lines l on l.orders = o.id",
        "select extract(epoch from orders), l.* from lines l",
        "select *, language orders from lines",
        "select count(o.*) from orders o",
        "select x.id from (select 1 as id) x where x.note = 'select * from orders'",
        "create function f() returns int language orders as 'select * from lines'",
        "insert into lines select 1 from orders returning *",
        "select a.* -- from orders\n from lines a",
      })
  void notAllColumns(String statement) {
    assertThat(orders.takesAllColumns(sql(statement))).isFalse();
  }

  @Test
  void aNameThatNeedsQuotesIsFoundInQuotes() {
    assertThat(quoted.takesAllColumns(sql("select * from \"Shop\".\"My \"\"Orders\"\"\"")))
        .isTrue();
    assertThat(quoted.takesAllColumns(sql("select * from My"))).isFalse();
    assertThat(quoted.groupsByKey(sql("select 1 from \"My \"\"Orders\"\"\" group by x, \"Id\"")))
        .isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          true  | copy orders from stdin
          true  | COPY shop.orders FROM '/tmp/x' csv
          true  | copy "shop"."orders"  from stdin
          false | copy orders (id, x) from stdin
          false | copy orders to stdout
          false | copy shop.orders_old from stdin
          false | copy orders(id) from stdin
          """)
  void copyWithoutColumns(boolean is, String statement) {
    assertThat(orders.copiesWithoutColumns(sql(statement))).isEqualTo(is);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          true  | select o.id, o.x, count(*) from orders o group by o.id
          true  | select id, x from orders group by id having count(*) > 1
          true  | select 1 from orders o join lines l on true GROUP BY l.x, o."id" order by 1
          false | select x, count(*) from orders group by x
          false | select x from orders group by x order by max(id)
          false | select x from orders group by x having max(id) > 1
          false | select customer_id from orders group by customer_id
          false | select id from lines group by id
          false | select id, extract(year from orders) from lines group by id
          true  | with a as (select 1), b as (select id, x from orders group by id) select * from b
          true  | insert into lines (x) (select x from orders where y = $1 group by id)
          true  | insert into lines values (1, (select max(x) from orders group by id))
          true  | select o.x from "orders" as o where x <> $q$ order by 1 $q$ group by o.id
          true  | select x from orders group by id for no key update
          false | select $$ select x from orders group by id $$, $1 from lines
          false | select x from lines where y = $tag$ group by id from orders
          """)
  void groupingByTheKey(boolean is, String statement) {
    assertThat(orders.groupsByKey(sql(statement))).isEqualTo(is);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          true  | insert into orders values (1) ON CONFLICT ON CONSTRAINT orders_pkey DO NOTHING
          false | insert into orders values (1) on conflict (id) do nothing
          false | insert into orders values (1) on conflict on constraint orders_pkey2 do nothing
          false | comment on constraint orders_pkey on orders is 'conflict'
          """)
  void onConflictByTheNameOfThePrimaryKey(boolean is, String statement) {
    assertThat(orders.namesPrimaryKey(sql(statement))).isEqualTo(is);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          true  | truncate orders
          true  | TRUNCATE TABLE lines, only shop.orders * RESTART IDENTITY cascade
          true  | truncate "orders", lines
          true  | update orders set id = $1 where id = $2
          true  | update only shop.orders o set x = f($1, 2), "id" = $2
          true  | update orders set (x, id) = ($1, $2)
          true  | insert into orders (id, x) values ($1, $2) on conflict (x) do update set id = $3
          true  | merge into orders o using lines l on o.id = l.id when matched then update set x = 1, id = l.id
          true  | with a as (update orders set id = $1 returning x) select * from a
          false | truncate lines, orders_old
          false | truncate other.orders
          false | update orders set x = id where id = $1
          false | update orders set x = (select max(id) from lines), y = $1 where id = $2
          false | update orders set x = case when y = $1 then id end from lines where lines.id = orders.id
          false | update lines set id = $1 from orders where orders.id = lines.order_id
          false | insert into orders (id, x) values ($1, $2) on conflict (id) do update set x = $3
          false | set session id = 1
          false | delete from orders where id = $1
          false | select 'truncate orders'
          """)
  void whatTheRunRefuses(boolean is, String statement) {
    assertThat(orders.changesKeys(sql(statement))).isEqualTo(is);
  }

  @Test
  void whatWasSearchedInFullAndNotFoundIsNoPrecondition() {
    assertThat(codes(found(false, "select id from orders"))).containsExactly("keys_as_strings");
  }

  @Test
  void whatWasFoundIsShownShortened() {
    List<Precondition> found =
        found(
            true, "select  *\n  from orders", "select * from orders where x = '" + "x".repeat(500));

    assertThat(codes(found)).containsExactly("keys_as_strings", "prepared_star");
    assertThat(found.getLast().diagnostic().detail())
        .contains("Found: 'select * from orders'; 'select * from orders where x = 'xxx")
        .hasSizeLessThan(500);
  }

  /** As long as the longest that is searched: a function's body. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "group by orders, ",
        "select orders, ",
        "copy orders ",
        "truncate x, ",
        "update orders set x = ",
        "o.",
        "\""
      })
  void aLongStatementIsSearchedInOnePass(String part) {
    String nasty = "orders " + part.repeat(100_000 / part.length());

    long before = cpuNanos();
    assertThat(orders.groupsByKey(sql(nasty))).isFalse();
    assertThat(orders.takesAllColumns(sql(nasty))).isFalse();
    assertThat(orders.copiesWithoutColumns(sql(nasty))).isFalse();
    assertThat(orders.namesPrimaryKey(sql(nasty))).isFalse();
    assertThat(orders.changesKeys(sql(nasty))).isFalse();
    assertThat(Duration.ofNanos(cpuNanos() - before)).isLessThan(Duration.ofSeconds(10));
  }

  private List<Precondition> found(boolean keepPrimaryKey, String... sent) {
    return Preconditions.of(
        orders,
        new RecordedStatements(
            Stream.of(sent).map(text -> new Recorded(text, SearchPath.USUAL)).toList(),
            Optional.empty()),
        new AppObjects(List.of(), List.of(), List.of(), List.of()),
        keepPrimaryKey);
  }

  private static SqlStatement sql(String text) {
    return SqlStatement.all(text).getFirst();
  }

  private static List<String> codes(List<Precondition> conditions) {
    return conditions.stream().map(Precondition::code).toList();
  }

  /** Of this thread, which a busy machine gives more slowly and not more of. */
  private static long cpuNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }
}
