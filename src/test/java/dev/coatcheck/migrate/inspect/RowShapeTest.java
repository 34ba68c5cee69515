package dev.coatcheck.migrate.inspect;

import static dev.coatcheck.migrate.inspect.SourceFixture.wish;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.migrate.application.Precondition;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What depends on the number of a table's columns. Each shape is tried on the table with one column
 * more: the named ones fail there, the others don't.
 */
class RowShapeTest {
  @RegisterExtension static final SourceFixture FIXTURE = new SourceFixture();

  @BeforeEach
  void tables() {
    FIXTURE.clear();
    FIXTURE.execute(
        "create table orders (id bigserial primary key, note text)",
        "create table log (op text, id bigint, note text)",
        "create table hist (id bigint, note text)",
        "insert into orders (note) values ('one'), ('two')");
  }

  /**
   * A shape.
   *
   * @param setup statements between ";;"
   * @param probe what the application sends
   */
  record Shape(String name, String setup, String probe) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static Shape trigger(String name, String body) {
    return new Shape(
        name,
        """
        create function on_orders() returns trigger language plpgsql as $$ %s $$;;
        create trigger audit after insert or update or delete on orders
          for each row execute function on_orders()
        """
            .formatted(body),
        "update orders set note = 'changed' where id = 1");
  }

  private static Shape function(String name, String create, String probe) {
    return new Shape(name, "create function f" + create, probe);
  }

  static List<Shape> breaking() {
    return List.of(
        trigger(
            "the audit trigger of Postgres's manual",
            """
            begin
              if (tg_op = 'DELETE') then
                insert into log select 'D', old.*;
              elsif (tg_op = 'UPDATE') then
                insert into log select 'U', new.*; -- the row as it is now
              elsif (tg_op = 'INSERT') then
                insert into log select 'I', new.*;
              end if;
              return null;
            end;
            """),
        trigger("values (old.*)", "begin insert into hist values (old.*); return null; end;"),
        trigger("select (old).*", "begin insert into hist select (old).*; return null; end;"),
        trigger(
            "a variable of the row's type",
            "declare r orders%rowtype; begin r := new; insert into hist values (r.*);"
                + " return null; end;"),
        trigger(
            "a record",
            "declare r record; begin r := old; insert into hist select r.*;"
                + " return null; end;"),
        trigger(
            "dynamic SQL",
            "begin execute format('insert into %I select ($1).*', 'hist') using new;"
                + " return null; end;"),
        trigger(
            "dynamic SQL put together",
            "begin execute 'insert into ' || 'hist' || ' values ($1.*)' using old;"
                + " return null; end;"),
        function(
            "setof t from columns in SQL",
            "() returns setof orders language sql as 'select id, note from orders'",
            "select * from f()"),
        function(
            "setof t from columns in PL/pgSQL",
            "() returns setof orders language plpgsql as"
                + " 'begin return query select id, note from orders; end'",
            "select * from f()"),
        function(
            "setof t in parsed form",
            "() returns setof orders begin atomic select * from orders; end",
            "select * from f()"),
        function(
            "a row of the type",
            "() returns orders language plpgsql as 'begin return row(1::bigint, ''a''::text); end'",
            "select f()"),
        function(
            "returns table from a star",
            "() returns table (a bigint, b text) language sql as 'select * from orders'",
            "select * from f()"),
        function(
            "returns table from a star in PL/pgSQL",
            "() returns table (a bigint, b text) language plpgsql as"
                + " 'begin return query select * from orders; end'",
            "select * from f()"),
        function(
            "row(…)::t",
            "() returns text language sql as 'select to_json(row(1, ''a'')::orders)::text'",
            "select f()"),
        function(
            "cast(row(…) as t)",
            "() returns text language plpgsql as"
                + " 'begin return cast(row(1, ''a'') as public.orders)::text; end'",
            "select f()"),
        function(
            "a text as a row",
            "() returns text language plpgsql as 'begin return (''(1,a)''::orders).note; end'",
            "select f()"),
        function(
            "an argument of the row's type",
            "(o orders) returns text language sql as 'select o.note'",
            "select f(row(1, 'a'))"),
        function(
            "insert select * in a function",
            "() returns void language sql as 'insert into hist select * from orders'",
            "select f()"),
        function(
            "the archive of deleted rows",
            "() returns void language sql as 'with gone as (delete from orders returning *)"
                + " insert into hist select * from gone'",
            "select f()"),
        function(
            "rows in a loop",
            "() returns void language plpgsql as 'declare r orders%rowtype; begin for r in select *"
                + " from orders loop insert into hist values (r.*); end loop; end'",
            "select f()"),
        function(
            "a union with the archive",
            "() returns bigint language sql as 'select count(*) from (select * from orders union"
                + " all select * from hist) x'",
            "select f()"));
  }

  static List<Shape> harmless() {
    return List.of(
        trigger(
            "named columns",
            "begin insert into hist (id, note) values (new.id, new.note); return null; end;"),
        trigger(
            "the row as JSON",
            "begin insert into hist (note) values (to_jsonb(new.*)); return null; end;"),
        trigger(
            "a comparison of rows",
            "begin if old.* is distinct from new.* then perform 1; end if; return null; end;"),
        function(
            "setof t from a star",
            "() returns setof orders language sql as 'select * from orders'",
            "select id from f()"),
        function(
            "setof t from a star in PL/pgSQL",
            "() returns setof orders language plpgsql as"
                + " 'begin return query select o.* from orders o; end'",
            "select id from f()"),
        function(
            "a null row",
            "() returns text language sql as"
                + " 'select (jsonb_populate_record(null::orders, ''{}'')).note'",
            "select f()"),
        function(
            "an insert in parsed form",
            "() returns void begin atomic insert into hist select * from orders; end",
            "select f()"),
        function(
            "an insert of named columns that returns",
            "() returns void language sql as 'with n as (insert into orders (note) values (''x'')"
                + " returning *) insert into log (id) select id from n'",
            "select f()"),
        function(
            "a copy within the table",
            "() returns void language sql as 'insert into orders select * from orders where false'",
            "select f()"),
        new Shape("a view", "create view v as select * from orders", "select * from v"),
        new Shape(
            "a view with a row",
            "create view v as select row(1, 'a')::orders as o",
            "select o from v"),
        new Shape(
            "a view over a union",
            "create view v as select * from orders union all select * from hist",
            "select * from v"),
        new Shape(
            "a rule",
            "create table other (id bigint);; create rule r as on insert to other do also"
                + " insert into hist select * from orders",
            "insert into other values (1)"));
  }

  @ParameterizedTest
  @MethodSource("breaking")
  void whatFailsForGoodIsNamedWithItsRemedy(Shape shape) {
    setUp(shape);
    send(shape.probe());

    List<String> found = found();

    assertThat(found).hasSize(shape.name().contains("manual") ? 3 : found.size()).isNotEmpty();
    assertThat(found)
        .allSatisfy(
            one ->
                assertThat(one).matches("function public\\.(on_orders \\(trigger audit\\)|f): .+"));
    addColumn();
    assertThatThrownBy(() -> send(shape.probe())).hasCauseInstanceOf(SQLException.class);
  }

  @ParameterizedTest
  @MethodSource("harmless")
  void whatGoesOnWorkingIsNotNamed(Shape shape) {
    setUp(shape);
    send(shape.probe());

    assertThat(found()).isEmpty();
    addColumn();
    send(shape.probe());
  }

  /** The statements that build its rows need not name the table at all. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          create table snap (id int, taken orders)                  | row(1, 'a')                    | public.snap.taken
          create table snap (id int, "all" orders[])                | array[row(1, 'a')]::orders[]   | public.snap."all"
          create domain known as orders;; create table snap (id int, taken known) | row(1, 'a')      | public.snap.taken
          create type pair as (n int, taken orders);; create table snap (id int, held pair) | row(1, row(1, 'a')) | public.pair.taken
          """)
  void columnsThatHoldRowsOfTheTableAreNamed(String setup, String value, String column) {
    String statement = "insert into snap values (1, %s)".formatted(value);
    setUp(new Shape(column, setup, statement));
    send(statement);

    assertThat(found())
        .singleElement()
        .satisfies(
            one -> assertThat(one).startsWith("column " + column + ": holds rows of the table"));
    addColumn();
    assertThatThrownBy(() -> send(statement)).hasCauseInstanceOf(SQLException.class);
    send("insert into snap select * from snap");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "insert into hist select * from orders",
        "insert into hist (id, note) select o.* from public.orders o where id > 0",
        "with gone as (delete from orders where id = 2 returning *) insert into hist select * from"
            + " gone",
        "select * from orders union select * from hist",
        "select to_json(row(1, 'a')::orders)",
      })
  void statementsThatApplicationsSentAreNamed(String statement) {
    FIXTURE.execute("create schema stats", "create extension pg_stat_statements schema stats");
    try {
      FIXTURE.execute("select stats.pg_stat_statements_reset()");
      assertThat(codes()).doesNotContain("row_shape");
      send(statement);

      assertThat(found())
          .singleElement()
          .satisfies(one -> assertThat(one).startsWith("'" + statement.substring(0, 10)));
      addColumn();
      assertThatThrownBy(() -> send(statement)).hasCauseInstanceOf(SQLException.class);
    } finally {
      FIXTURE.execute("drop schema stats cascade");
    }
  }

  private static void setUp(Shape shape) {
    FIXTURE.execute(
        Arrays.stream(shape.setup().split(";;", -1)).map(String::strip).toArray(String[]::new));
  }

  private static void addColumn() {
    FIXTURE.execute("alter table orders add column snowflake_id bigint");
  }

  private static List<String> codes() {
    return FIXTURE.sound(wish("orders")).preconditions().stream().map(Precondition::code).toList();
  }

  private static List<String> found() {
    return FIXTURE.sound(wish("orders")).preconditions().stream()
        .filter(condition -> condition.code().equals("row_shape"))
        .flatMap(condition -> condition.found().stream())
        .toList();
  }

  /** On a new connection, so that nothing was prepared before. */
  private static void send(String sql) {
    FIXTURE.execute(sql);
  }
}
