package dev.coatcheck.migrate.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.migrate.plan.RecordedStatements.Recorded;
import dev.coatcheck.migrate.source.SearchPath;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;
import dev.coatcheck.postgres.sql.TestSql;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the server says of recorded statements, and what it doesn't do for them. */
class KeyNeedTest {
  private static final TestDatabase DATABASE = TestDatabase.empty();
  private static final TestSql SQL = DATABASE.sql();
  private static final Database SOURCE =
      Database.openPinned(DATABASE.settings(2), "source", new Observer());

  /** As they are recorded: values are parameters. */
  private static final List<String> NEED =
      List.of(
          "select id, name from orders group by 1",
          "select o.id, o.name, count(*) from orders o join lines l on l.order_id = o.id where"
              + " l.x > $1 group by 1 order by 3 limit $2",
          "select id as k, name from orders group by k",
          "select k, name from (select id as k, name from shop.orders group by k) x",
          "with n as (select id k, name from orders group by k) select * from n",
          "(select id, name from orders group by orders.id) union all select $1, $2",
          "insert into names select name from orders where placed > now() - interval $1 group by"
              + " id",
          "insert into orders (id) values ($1) on conflict on constraint orders_pkey do nothing",
          "update lines set x = $1 from (select id, name from orders group by 1) o where o.id ="
              + " order_id",
          "select to_jsonb(name) ? $1 from (select id, name from orders group by 1) o",
          "select id, name, id % $1 from orders group by 1, id % 7",
          "copy (select id, name from orders group by 1) to stdout",
          "declare c no scroll cursor with hold for select id, name from orders group by 1",
          "prepare p (bigint) as select id, name from orders where id > $1 group by 1",
          "create temp table old as select id, name from orders group by 1");

  private static final List<String> DO_NOT =
      List.of(
          "select id, count(*) from orders group by 1",
          "select id as k, name from orders group by k, 2",
          "insert into orders (id) values ($1) on conflict (id) do update set name = $2 where"
              + " $3 = any (select name from orders group by name)",
          "select date_trunc($1, placed), count(*) from orders group by date_trunc($2, placed)",
          "select l.id, l.x, max(o.id) from lines l join orders o on $1 is null group by l.id",
          "select id, name from other.orders group by 1",
          "select name from orders where id in ($1 /*, ... */) group by name",
          "select l.x + $1, round(l.x, $2), l.x::numeric(9,2), count(o.id) from lines l, orders o"
              + " group by l.x + 1, round(l.x, 2), l.x::numeric(9,2)");

  @BeforeAll
  static void tables() {
    SQL.execute(
        "create schema shop",
        "create schema other",
        "create table shop.orders (id bigserial primary key, name text, placed timestamptz)",
        "create table shop.lines (id bigserial primary key, order_id bigint, x int)",
        "create table shop.names (name text)",
        "create table other.orders (id bigserial primary key, name text)");
  }

  @AfterAll
  static void close() {
    SOURCE.close();
  }

  @Test
  void theServerTellsWhichStatementsNeedThePrimaryKeyHoweverTheyAreWritten() {
    RecordedStatements asked = asked(Stream.concat(NEED.stream(), DO_NOT.stream()).toList());

    assertThat(asked.notAsked()).isEmpty();
    assertThat(needing(asked, true)).containsExactlyInAnyOrderElementsOf(NEED);
    assertThat(needing(asked, false)).containsExactlyInAnyOrderElementsOf(DO_NOT);
  }

  /**
   * Texts are those of strangers, and may hold more than one statement to a server, or to the
   * driver, that reads them in another way than we do.
   */
  @Test
  void nothingOfARecordedTextRuns() {
    SQL.execute(
        "create sequence shop.ran",
        "create function shop.run(int) returns boolean language plpgsql immutable"
            + " as 'begin perform nextval(''shop.ran''); return true; end'",
        "create domain shop.checked as int check (shop.run(value))",
        "create type shop.pair as (x shop.checked)",
        "create function shop.defaulted(x boolean default shop.run(1)) returns boolean"
            + " language sql immutable as 'select x'",
        "create operator shop.<-> (rightarg = int, function = shop.run)",
        "create view shop.seen as select shop.run(1)",
        "create rule counted as on update to shop.names do instead select shop.run(1)",
        "create table shop.ruled (x boolean default shop.run(1))");
    List<String> harmless =
        List.of(
            "select name, '{1}'::checked[] from orders group by name",
            "copy (select name, array['(1)'::pair], '(1)'::pair from orders group by name) to"
                + " stdout",
            "select name, '[1,2)'::int4range, 1::checked, array[1]::checked[], row(1)::pair from"
                + " orders group by name",
            "select name, run(1), <-> 1, defaulted() from orders group by name, run(1)",
            "select * from seen, (select name from orders group by name) o limit run(1)::int",
            "with n as (update names set name = $1 returning 1) select name from orders group by"
                + " name having run(1)",
            "insert into ruled select $1 from orders group by name");
    List<String> planted =
        List.of(
            "select 1 from orders group by id; create table planted ()",
            "select 1 from orders group by id; end; create table planted (); begin",
            "end /* orders */ constraint",
            "commit; create table shop.planted (); begin; select 1 from orders group by 1",
            "select 'a\\'; create table planted (); --' from orders group by id",
            "select e'a\\'; create table planted (); --' from orders group by id",
            "select a\u2003$q$; create table planted (); select $q$ from orders group by id",
            "select a\u00a0$q$; create table planted (); select $q$ from orders group by id",
            "select $q$ from orders group by id $q; create table planted (); --",
            "select \"a; create table planted (); --\" from orders group by id",
            "select \"a\"\"; create table planted (); --\" from orders group by id",
            "select u&'\\' uescape '\\', 1; create table planted (); --' from orders group by id",
            "select 1 -/**/- 1 from orders group by id; create table planted ()",
            "select {fn now()} from orders group by id",
            "select $ $ from orders group by id $ $",
            "prepare p as create table planted (orders int constraint c check (true))",
            "declare c cursor for delete from orders; create table planted (); select 1 group by 1",
            "create table planted as select 1 from orders group by id, name into planted",
            "select * into planted from orders group by id, name",
            "do $$ begin create table shop.planted (orders int constraint c unique); end $$",
            "truncate orders /* group */ ; select 1 group by 1",
            "select " + "(".repeat(9_000) + "1" + ")".repeat(9_000) + " from orders group by 1",
            "select " + "x".repeat(StatementTable.TEXT_MAX) + " from orders group by 1");

    RecordedStatements asked = asked(Stream.concat(harmless.stream(), planted.stream()).toList());

    assertThat(SQL.text("select is_called from shop.ran")).as("code of others ran").isEqualTo("f");
    assertThat(needing(asked, false)).containsAll(harmless);
    assertThat(SQL.numbers("select count(*) from pg_class where relname = 'planted'"))
        .as("tables that were planted")
        .containsExactly(0L);
  }

  @Test
  void nothingIsLeftBehind() {
    asked(NEED);

    assertThat(SQL.number("select count(*) from pg_proc where proname = 'coatcheck_asked'"))
        .isZero();
    assertThat(
            SOURCE.<String>read(
                "test",
                sql ->
                    PlainSql.row(
                        sql,
                        """
                        select concat_ws('|', current_setting('search_path'),
                          current_setting('check_function_bodies'),
                          (select count(*) from pg_locks l join pg_stat_activity a using (pid)
                            where l.relation >= 16384 and a.datname = current_database()
                              and a.backend_type = 'client backend'),
                          (select count(*) from pg_prepared_statements where from_sql),
                          pg_my_temp_schema())\
                        """,
                        row -> row.getString(1))))
        .isEqualTo("pg_catalog,pg_temp|on|0|0|0");
  }

  @Test
  void aTableThatIsLockedDelaysAPlanByLessThanASecond() {
    try (TestSession holder = SQL.begin("lock table shop.lines in access exclusive mode")) {
      RecordedStatements asked = asked(NEED);

      assertThat(asked.notAsked())
          .hasSize(2)
          .allSatisfy(one -> assertThat(one).endsWith("(canceling statement due to lock timeout)"));
      assertThat(needing(asked, true)).hasSize(NEED.size() - 2);
      holder.rollback();
    }
  }

  @Test
  void whatTheServerCantBeAskedAboutIsListedWithTheReason() {
    assertThat(asked(List.of("explain select id, name from orders group by 1")).notAsked())
        .containsExactly(
            "'explain select id, name from orders group by 1' (it is no query, or not a whole"
                + " one)");
    assertThat(asked(List.of("select id, gone from orders group by 1")).notAsked().getFirst())
        .startsWith("'select id, gone from orders group by 1' (column \"gone\" does not exist");
  }

  @Test
  void aPlanAsksForFiveSecondsAtMost() {
    AtomicLong seconds = new AtomicLong();

    RecordedStatements asked =
        asked(NEED, () -> Duration.ofSeconds(seconds.getAndAdd(2)).toNanos());

    assertThat(needing(asked, true)).hasSize(2);
    assertThat(asked.notAsked())
        .hasSize(NEED.size() - 2)
        .allSatisfy(one -> assertThat(one).endsWith(" (there was no time left)"));
  }

  @Test
  void whereAnEventTriggerWouldRunTheServerIsNotAsked() {
    SQL.execute(
        "create function public.log_ddl() returns event_trigger language plpgsql"
            + " as 'begin raise exception ''ran''; end'",
        "create event trigger log_ddl on ddl_command_end execute function public.log_ddl()");
    try {
      assertThat(asked(NEED).notAsked())
          .hasSize(NEED.size())
          .allSatisfy(
              one ->
                  assertThat(one)
                      .endsWith(" (an event trigger runs for each function that is created)"));
    } finally {
      SQL.execute("drop event trigger log_ddl", "drop function public.log_ddl()");
    }
  }

  private static List<String> needing(RecordedStatements asked, boolean needsKey) {
    return asked.statements().stream()
        .filter(one -> one.needsKey().equals(Optional.of(needsKey)))
        .map(Recorded::text)
        .toList();
  }

  private static RecordedStatements asked(List<String> texts) {
    return asked(texts, System::nanoTime);
  }

  private static RecordedStatements asked(List<String> texts, LongSupplier nanoTime) {
    List<Recorded> recorded =
        texts.stream()
            .map(text -> new Recorded(text, new SearchPath(List.of("shop", "public"))))
            .toList();
    return KeyNeedTable.asked(
        SOURCE,
        new TableName("shop", "orders"),
        new RecordedStatements(recorded, Optional.empty()),
        nanoTime);
  }
}
