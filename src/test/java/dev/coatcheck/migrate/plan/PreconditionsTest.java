package dev.coatcheck.migrate.plan;

import static dev.coatcheck.migrate.plan.SourceFixture.codes;
import static dev.coatcheck.migrate.plan.SourceFixture.detail;
import static dev.coatcheck.migrate.plan.SourceFixture.preconditions;
import static dev.coatcheck.migrate.plan.SourceFixture.wish;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.TableSpec;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the applications of a table have to be ready for, and where that can't be searched. */
class PreconditionsTest {
  @RegisterExtension static final SourceFixture FIXTURE = new SourceFixture();

  @BeforeEach
  void clear() {
    FIXTURE.clear();
  }

  @Test
  void aRoleThatSeesOnlyItselfIsTold() {
    FIXTURE.execute(
        "create extension pg_stat_statements",
        "create table t (id bigserial primary key)",
        "alter table t owner to " + FIXTURE.plain(),
        "create table c (t bigint references t)",
        "alter table c owner to " + FIXTURE.plain());
    try {
      assertThat(new TableSurvey(System::nanoTime).inspect(FIXTURE.asPlain(), wish("t")))
          .isInstanceOfSatisfying(
              TableSurvey.Outcome.Sound.class,
              sound -> {
                assertThat(codes(sound.shape().notes())).contains("sessions_hidden");
                assertThat(detail(preconditions(sound.shape()), "prepared_star"))
                    .contains("Not all statements were searched: the source's user sees only");
              });
    } finally {
      FIXTURE.execute("drop extension pg_stat_statements");
    }
  }

  /** A child gets a column too: what its triggers do with its rows fails in the same way. */
  @Test
  void codeThatDependsOnTheColumnsOfAChildIsFound() {
    FIXTURE.execute(
        "create table t (id bigserial primary key)",
        "create table c (t bigint references t, x int)",
        "create table log (like c)",
        "create function f() returns trigger language plpgsql"
            + " as 'begin insert into log select new.*; return new; end'",
        "create trigger audit after insert on c for each row execute function f()");

    assertThat(detail(preconditions(FIXTURE.sound(wish("t"))), "row_shape")).contains("audit");
  }

  /** The run's trigger fires last, so the others see the old column as the statement left it. */
  @Test
  void triggersAndDefaultsOfAChildThatMissItsNewColumnAreNamed() {
    FIXTURE.execute(
        "create table t (id bigserial primary key)",
        "create table c (n int, \"T_id\" int references t, back int default abs(1) references t)"
            + " partition by list (n)",
        "create table c_1 partition of c default",
        "create table plain (t_id int default 7 references t)",
        "create function reads() returns trigger language plpgsql"
            + " as 'begin new.n := (select id from t where id = new.\"T_id\"); return new; end'",
        "create function other() returns trigger language plpgsql"
            + " as 'begin new.n := new.t_id_2; return new; end'",
        "create trigger of_column after update of \"T_id\" on c execute function other()",
        "create trigger before_row before insert on c for each row execute function reads()",
        "create trigger on_part before update on c_1 for each row"
            + " when (new.\"T_id\" is null) execute function other()",
        "create trigger after_row after insert on c for each row execute function reads()",
        "create trigger off before insert on c for each row execute function reads()",
        "alter table c disable trigger off",
        "create trigger other before insert on c for each row execute function other()");

    List<Diagnostic> found = preconditions(FIXTURE.sound(wish("t")));

    assertThat(detail(found, "child_triggers"))
        .endsWith(
            " Found: before_row on public.c, which reads T_id; of_column on public.c, which fires"
                + " on update of T_id, not of T_id_snowflake_id; on_part on public.c_1, which reads"
                + " T_id.");
    assertThat(detail(found, "child_defaults"))
        .endsWith(" Found: public.c.back, by default abs(1); public.c_1.back, by default abs(1).");
  }

  @Test
  void whereStatementsCantBeSearchedTheirPreconditionsAreListedAllTheSame() {
    FIXTURE.execute("create table t (id bigserial primary key, x int)");
    TableShape moved = FIXTURE.sound(wish("t"));
    FIXTURE.execute("create view v as select id, x from t group by id");
    TableShape kept = FIXTURE.sound(new TableSpec("public", "t", Optional.empty(), true));

    assertThat(codes(preconditions(moved)))
        .containsExactly(
            "keys_as_strings",
            "row_shape",
            "prepared_star",
            "copy_without_columns",
            "serialization_failures",
            "lastval",
            "group_by_key",
            "on_conflict_on_constraint");
    assertThat(detail(preconditions(moved), "prepared_star"))
            "key_changes",
        .endsWith(
            "Not all statements were searched: pg_stat_statements is not installed in this"
                + " database.");
    assertThat(codes(preconditions(kept)))
        .containsExactly(
            "keys_as_strings",
            "row_shape",
            "prepared_star",
            "copy_without_columns",
            "serialization_failures",
            "lastval",
            "key_changes");
  }

  /** The statement that asks for a level names no table, nor does PHP's lastInsertId. */
  @Test
  void statementsThatNameNoTableAreFoundToo() {
    FIXTURE.execute(
        "create table t (id bigserial primary key)", "create extension pg_stat_statements");
    try {
      for (String sent :
          List.of(
              "set transaction isolation level repeatable read",
              "begin isolation level serializable",
              "set default_transaction_isolation = 'repeatable read'",
              "select LASTVAL()")) {
        String code = sent.contains("LASTVAL") ? "lastval" : "serialization_failures";
        FIXTURE.execute("select pg_stat_statements_reset()");
        assertThat(codes(preconditions(FIXTURE.sound(wish("t"))))).as(sent).doesNotContain(code);

        FIXTURE.execute("insert into t default values", sent, "rollback");

        assertThat(detail(preconditions(FIXTURE.sound(wish("t"))), code))
            .contains(sent.substring(0, 12));
      }
    } finally {
      FIXTURE.execute("drop extension pg_stat_statements");
    }
  }

  @Test
  void anExtensionThatRefusesToBeReadIsSaidToo() {
    FIXTURE.execute(
        "create table t (id bigserial primary key)",
        "alter table t owner to " + FIXTURE.plain(),
        "create schema stats",
        "create table stats.pg_stat_statements (query text)",
        "grant all on schema stats to public",
        "grant all on stats.pg_stat_statements to public",
        "create extension pg_stat_statements schema public",
        "revoke all on pg_stat_statements from public");
    try {
      assertThat(new TableSurvey(System::nanoTime).inspect(FIXTURE.asPlain(), wish("t")))
          .isInstanceOfSatisfying(
              TableSurvey.Outcome.Sound.class,
              sound ->
                  assertThat(detail(preconditions(sound.shape()), "prepared_star"))
                      .contains(
                          "Not all statements were searched: pg_stat_statements is installed but"));
    } finally {
      FIXTURE.execute("drop extension pg_stat_statements", "drop schema stats cascade");
    }
  }

  @Test
  void statementsThatApplicationsSentAreSearched() {
    FIXTURE.execute(
        "create schema stats",
        "create extension pg_stat_statements schema stats",
        "create table t (id bigserial primary key, x int)",
        "select stats.pg_stat_statements_reset()",
        "select t.* from t where id = 4711");
    try {
      List<Diagnostic> found = preconditions(FIXTURE.sound(wish("t")));

      assertThat(codes(found)).containsExactly("keys_as_strings", "prepared_star");
      assertThat(detail(found, "prepared_star"))
          .endsWith(" Found: 'select t.* from t where id = $1'.");
    } finally {
      FIXTURE.execute("drop schema stats cascade");
    }
  }

  /** Words alone miss them all. */
  @Test
  void statementsThatNeedThePrimaryKeyAreFoundUnderThePathOfTheirRole() {
    List<String> needing =
        List.of(
            "select id, x from t group by 1",
            "select k, x from (select id as k, x from t group by k) o",
            "declare c cursor for select id, x from t group by 1",
            "create temp table made as select id, x from t group by 1",
            "copy (select id, x from app.t group by 1) to '/dev/null'");
    List<String> harmless =
        List.of(
            "select id, x from t group by 1, 2",
            "select x + 1, count(id) from t where x in (1, 2) group by x + 1",
            "insert into t (id) values (4711) on conflict (id) do nothing");
    String byName = "insert into t (id) values (1) on conflict on constraint t_pkey do nothing";
    FIXTURE.execute(
        "create extension pg_stat_statements",
        "create schema app authorization " + FIXTURE.plain(),
        "alter role " + FIXTURE.plain() + " set search_path = app",
        "create table t (id int primary key, x int)",
        "create table app.t (id bigserial primary key, x int)",
        "alter table app.t owner to " + FIXTURE.plain(),
        "select pg_stat_statements_reset()");
    try {
      FIXTURE.execute("begin", needing.getLast(), "rollback");
      needing.stream().filter(sent -> !sent.contains("copy")).forEach(PreconditionsTest::send);
      harmless.forEach(PreconditionsTest::send);
      send(byName);
      TableSpec wish = new TableSpec("app", "t", Optional.empty(), false);
      FIXTURE.sound(wish);

      TableShape shape = FIXTURE.sound(wish);

      assertThat(codes(preconditions(shape)))
          .containsExactly("keys_as_strings", "group_by_key", "on_conflict_on_constraint");
      assertThat(shape.preconditions().get(1).found()).hasSameSizeAs(needing);
      assertThat(shape.preconditions().get(2).found().getFirst()).contains("on constraint t_pkey");
      assertThat(shape.notes())
          .allSatisfy(note -> assertThat(note.code()).isNotEqualTo("statements_not_checked"));
      FIXTURE.execute("alter table app.t drop constraint t_pkey, add unique (id)");
      assertThat(needing.subList(0, 4))
          .allSatisfy(
              sent -> assertThatThrownBy(() -> send(sent)).hasMessageContaining("GROUP BY"));
      harmless.forEach(PreconditionsTest::send);
    } finally {
      FIXTURE.execute(
          "alter role " + FIXTURE.plain() + " reset search_path",
          "drop schema app cascade",
          "drop extension pg_stat_statements");
    }
  }

  /** As the role that is nobody special, in a transaction that leaves nothing. */
  private static void send(String statement) {
    FIXTURE.execute(
        "set role " + FIXTURE.plain(), "set search_path = app", "begin", statement, "rollback");
  }

  @Test
  void aStatementAboutWhichTheServerCantBeAskedIsListed() {
    FIXTURE.execute(
        "create extension pg_stat_statements",
        "create table t (id bigserial primary key, x int)",
        "create table gone (t bigint)",
        "select pg_stat_statements_reset()",
        "select t.id, t.x from t join gone on gone.t = t.id group by t.id",
        "drop table gone");
    try {
      TableShape shape = FIXTURE.sound(wish("t"));

      assertThat(detail(shape.notes(), "statements_not_checked"))
          .contains("judged by their words", "(1): 'select t.id, t.x from t join gone on gone.t =")
          .endsWith("(relation \"gone\" does not exist).");
      assertThat(codes(preconditions(shape))).contains("group_by_key");
    } finally {
      FIXTURE.execute("drop extension pg_stat_statements");
    }
  }

  @Test
  void whatTheCatalogTellsOfTheApplicationsIsNamed() {
    FIXTURE.execute(
        "create table t (id bigserial primary key, x int, \"Y\" int, z int)",
        "create function all_of() returns setof t language sql as 'select * from t'",
        "create function \"Grouped\"() returns void language plpgsql as"
            + " 'begin perform x from t group by id; perform count(*) from t; end'",
        "create function upserted() returns void language plpgsql as 'begin"
            + " insert into t values (1) on conflict on constraint t_pkey do nothing; end'",
        "create function harmless() returns void language sql as"
            + " 'select count(*) from t; select * from pg_class'",
        "grant select (id, \"Y\") on t to " + FIXTURE.plain(),
        "create function f() returns trigger language plpgsql as 'begin return new; end'",
        "create trigger touch before update on t for each row execute function f()",
        "create trigger \"After\" after insert or update on t for each row execute function f()",
        "create trigger of_x before update of x on t for each row execute function f()",
        "create trigger off before update on t for each row execute function f()",
        "create trigger ins before insert on t for each row execute function f()",
        "alter table t disable trigger off");

    List<Diagnostic> found = preconditions(FIXTURE.sound(wish("t")));

    assertThat(detail(found, "prepared_star"))
        .contains(" Found: function public.all_of.")
        .doesNotContain("harmless");
    assertThat(detail(found, "group_by_key")).contains(" Found: function public.\"Grouped\".");
    assertThat(detail(found, "on_conflict_on_constraint"))
        .contains(" Found: function public.upserted.");
    assertThat(detail(found, "copy_without_columns")).doesNotContain("Found");
    assertThat(detail(found, "column_grants")).contains("Found: id; \"Y\".");
    assertThat(detail(found, "update_triggers")).contains(": \"After\", touch.");
  }

  @Test
  void aSearchPathThatHidesTheCatalogFoolsNobody() {
    FIXTURE.execute(
        "create table t (id bigserial primary key)",
        "create table public.pg_class (oid oid, relname name, relnamespace oid)",
        "create function public.lower(name) returns text language sql as 'select ''x'''",
        "alter database " + FIXTURE.name() + " set search_path = public, pg_catalog");
    try {
      Source again = FIXTURE.again();
      assertThat(new TableSurvey(System::nanoTime).inspect(again, wish("t")))
          .isInstanceOf(TableSurvey.Outcome.Sound.class);
    } finally {
      FIXTURE.execute("alter database " + FIXTURE.name() + " reset search_path");
    }
  }
}
