package dev.coatcheck.migrate.plan;

import static dev.coatcheck.migrate.plan.SourceFixture.wish;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What depends on the number of a table's columns. Each shape is tried on the table with one column
 * more: the named ones fail there, the others don't.
 */
class RowShapeTest {
  @RegisterExtension static final SourceFixture FIXTURE = new SourceFixture();

  /** Bodies of triggers, which fail with one column more. */
  private static final String BREAKING_TRIGGERS =
      """
      begin if (tg_op = 'DELETE') then insert into log select 'D', old.*; elsif (tg_op = 'UPDATE') then insert into log select 'U', new.*; -- as it is now
      elsif (tg_op = 'INSERT') then insert into log select 'I', new.*; end if; return null; end;
      ;;
      begin insert into hist values (old.*); return null; end;
      ;;
      begin insert into hist select (old).*; return null; end;
      ;;
      declare r orders%rowtype; begin r := new; insert into hist values (r.*); return null; end;
      ;;
      declare r record; begin r := old; insert into hist select r.*; return null; end;
      ;;
      begin execute format('insert into %I select ($1).*', 'hist') using new; return null; end;
      ;;
      begin execute 'insert into ' || 'hist' || ' values ($1.*)' using old; return null; end;
      """;

  private static final String HARMLESS_TRIGGERS =
      """
      begin insert into hist (id, note) values (new.id, new.note); return null; end;
      ;;
      begin insert into hist (note) values (to_jsonb(new.*)); return null; end;
      ;;
      begin if old.* is distinct from new.* then perform 1; end if; return null; end;
      """;

  /** Functions and what calls them. */
  private static final String BREAKING_FUNCTIONS =
      """
      () returns setof orders language sql as 'select id, note from orders' | select * from f()
      () returns setof orders language plpgsql as 'begin return query select id, note from orders; end' | select * from f()
      () returns setof orders begin atomic select * from orders; end | select * from f()
      () returns orders language plpgsql as 'begin return row(1::bigint, ''a''::text); end' | select f()
      () returns table (a bigint, b text) language sql as 'select * from orders' | select * from f()
      () returns table (a bigint, b text) language plpgsql as 'begin return query select * from orders; end' | select * from f()
      () returns text language sql as 'select to_json(row(1, ''a'')::orders)::text' | select f()
      () returns text language plpgsql as 'begin return cast(row(1, ''a'') as public.orders)::text; end' | select f()
      () returns text language plpgsql as 'begin return (''(1,a)''::orders).note; end' | select f()
      (o orders) returns text language sql as 'select o.note' | select f(row(1, 'a'))
      () returns void language sql as 'insert into hist select * from orders' | select f()
      () returns void language sql as 'with gone as (delete from orders returning *) insert into hist select * from gone' | select f()
      () returns void language plpgsql as 'declare r orders%rowtype; begin for r in select * from orders loop insert into hist values (r.*); end loop; end' | select f()
      () returns bigint language sql as 'select count(*) from (select * from orders union all select * from hist) x' | select f()
      """;

  private static final String HARMLESS_FUNCTIONS =
      """
      () returns setof orders language sql as 'select * from orders' | select id from f()
      () returns setof orders language plpgsql as 'begin return query select o.* from orders o; end' | select id from f()
      () returns text language sql as 'select (jsonb_populate_record(null::orders, ''{}'')).note' | select f()
      () returns void begin atomic insert into hist select * from orders; end | select f()
      () returns void language sql as 'with n as (insert into orders (note) values (''x'') returning *) insert into log (id) select id from n' | select f()
      () returns void language sql as 'insert into orders select * from orders where false' | select f()
      """;

  @BeforeEach
  void tables() {
    FIXTURE.clear();
    FIXTURE.execute(
        "create table orders (id bigserial primary key, note text)",
        "create table log (op text, id bigint, note text)",
        "create table hist (id bigint, note text)",
        "insert into orders (note) values ('one'), ('two')");
  }

  @Test
  void triggersThatFailForGoodAreNamedWithTheirRemedy() {
    List<String> breaking = List.of(BREAKING_TRIGGERS.split("\n;;\n", -1));
    List<String> all = new ArrayList<>(breaking);
    all.addAll(List.of(HARMLESS_TRIGGERS.split("\n;;\n", -1)));
    for (int n = 0; n < all.size(); n++) {
      FIXTURE.execute(
          "create function on_%d() returns trigger language plpgsql as $$ %s $$"
              .formatted(n, all.get(n)),
          "create trigger audit_%1$d after insert or update or delete on orders for each row execute function on_%1$d()"
              .formatted(n));
    }

    List<String> found = found();

    assertThat(found.stream().filter(one -> one.startsWith(onOrders(0))))
        .as("the audit trigger of Postgres's manual")
        .hasSize(3);
    assertThat(found.stream().map(one -> one.substring(0, one.indexOf(": "))).distinct())
        .containsExactlyElementsOf(
            IntStream.range(0, breaking.size())
                .mapToObj(n -> onOrders(n).replace(": ", ""))
                .toList());
    addColumn();
    for (int n = 0; n < all.size(); n++) {
      String[] probe = {
        "alter table orders disable trigger user",
        "alter table orders enable trigger audit_" + n,
        "update orders set note = 'changed' where id = 1"
      };
      requireFailure(n < breaking.size(), all.get(n), probe);
    }
  }

  private static String onOrders(int n) {
    return "function public.on_%1$d (trigger audit_%1$d): ".formatted(n);
  }

  @Test
  void functionsThatFailForGoodAreNamedWithTheirRemedy() {
    List<String> all =
        Stream.of(BREAKING_FUNCTIONS, HARMLESS_FUNCTIONS).flatMap(String::lines).toList();
    int breaking = (int) BREAKING_FUNCTIONS.lines().count();
    for (int n = 0; n < all.size(); n++) {
      FIXTURE.execute("create function f" + n + all.get(n).split(" \\| ", -1)[0]);
    }
    send(IntStream.range(0, all.size()).mapToObj(n -> probe(all.get(n), n)).toArray(String[]::new));

    List<String> found = found();

    assertThat(found).allMatch(one -> one.matches("function public\\.f[0-9]+: .+"));
    assertThat(found.stream().map(one -> one.substring(0, one.indexOf(": "))).distinct())
        .containsExactlyInAnyOrderElementsOf(
            IntStream.range(0, breaking).mapToObj(n -> "function public.f" + n).toList());
    addColumn();
    for (int n = 0; n < all.size(); n++) {
      requireFailure(n < breaking, all.get(n), probe(all.get(n), n));
    }
  }

  private static String probe(String function, int n) {
    return function.split(" \\| ", -1)[1].replace("f(", "f" + n + "(");
  }

  @Test
  void viewsAndRulesGoOnWorking() {
    FIXTURE.execute(
        "create view v as select * from orders",
        "create view of_rows as select row(1, 'a')::orders as o",
        "create view of_both as select * from orders union all select * from hist",
        "create table other (id bigint)",
        "create rule r as on insert to other do also insert into hist select * from orders");

    assertThat(found()).isEmpty();
    addColumn();
    send("select * from v", "select o from of_rows", "select * from of_both");
    send("insert into other values (1)");
  }

  /** The statements that build its rows need not name the table at all. */
  @Test
  void columnsThatHoldRowsOfTheTableAreNamed() {
    FIXTURE.execute(
        "create domain known as orders",
        "create type pair as (n int, taken orders)",
        "create table snap (id int, \"all\" orders[], held pair, known known, taken orders)");
    List<String> statements =
        List.of(
            "insert into snap (taken) values (row(1, 'a'))",
            "insert into snap (\"all\") values (array[row(1, 'a')]::orders[])",
            "insert into snap (known) values (row(1, 'a'))",
            "insert into snap (held) values (row(1, row(1, 'a')))");
    statements.forEach(RowShapeTest::send);

    List<String> found = found();

    assertThat(
            found.stream().map(one -> one.substring(0, one.indexOf(": holds rows of the table"))))
        .containsExactly(
            "column public.pair.taken",
            "column public.snap.\"all\"",
            "column public.snap.known",
            "column public.snap.taken");
    addColumn();
    statements.forEach(statement -> requireFailure(true, statement, statement));
    send("insert into snap select * from snap");
  }

  @Test
  void statementsThatApplicationsSentAreNamed() {
    List<String> statements =
        List.of(
            "insert into hist select * from orders",
            "insert into hist (id, note) select o.* from public.orders o where id > 0",
            "with gone as (delete from orders where id = 2 returning *) insert into hist select *"
                + " from gone",
            "select * from orders union select * from hist",
            "select to_json(row(1, 'a')::orders)");
    FIXTURE.execute("create schema stats", "create extension pg_stat_statements schema stats");
    try {
      FIXTURE.execute("select stats.pg_stat_statements_reset()");
      assertThat(FIXTURE.sound(wish("orders")).preconditions())
          .extracting(Precondition::code)
          .doesNotContain("row_shape");
      statements.forEach(RowShapeTest::send);

      assertThat(found().stream().map(one -> one.substring(1, 20)))
          .containsExactlyInAnyOrderElementsOf(
              statements.stream().map(one -> one.substring(0, 19)).toList());
      addColumn();
      statements.forEach(statement -> requireFailure(true, statement, statement));
    } finally {
      FIXTURE.execute("drop schema stats cascade");
    }
  }

  private static void addColumn() {
    FIXTURE.execute("alter table orders add column snowflake_id bigint");
  }

  private static List<String> found() {
    return FIXTURE.sound(wish("orders")).preconditions().stream()
        .filter(condition -> condition.code().equals("row_shape"))
        .flatMap(condition -> condition.found().stream())
        .toList();
  }

  private static void requireFailure(boolean fails, String what, String... probe) {
    if (fails) {
      assertThatThrownBy(() -> send(probe)).as(what).hasCauseInstanceOf(SQLException.class);
    } else {
      send(probe);
    }
  }

  /** On a new connection, so that nothing was prepared before, and with no trace in the tables. */
  private static void send(String... probe) {
    FIXTURE.execute(
        Stream.of(Stream.of("begin"), Stream.of(probe), Stream.of("rollback"))
            .flatMap(statements -> statements)
            .toArray(String[]::new));
  }
}
