package dev.coatcheck.migrate.inspect;

import static dev.coatcheck.migrate.inspect.SourceFixture.codes;
import static dev.coatcheck.migrate.inspect.SourceFixture.wish;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.migrate.source.TableSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What can't get new keys is refused with the reason, and nothing has changed. */
class RefusalTest {
  @RegisterExtension static final SourceFixture FIXTURE = new SourceFixture();
  private static final String T = "create table t (id bigserial primary key)";

  private static final String FUNCTION =
      "create function f() returns trigger language plpgsql as 'begin return new; end'";

  @BeforeEach
  void clear() {
    FIXTURE.clear();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          select 1 | table_unknown
          create table "T" (id bigint primary key) | table_unknown
          create view t as select 1 as id | view
          create materialized view t as select 1 as id | materialized_view
          create sequence t | sequence
          create table u (id bigint); create index t on u (id) | not_a_table
          create type t as (id bigint) | not_a_table
          create table t (id bigint primary key) partition by range (id) | partitioned_table
          create table p (id bigint primary key) partition by range (id); create table t partition of p default | partition
          create table p (id bigint); create table t (primary key (id)) inherits (p) | inheritance
          create table t (id bigint primary key); create table c () inherits (t) | inheritance
          create type k as (id bigint); create table t of k (primary key (id)) | typed_table
          create unlogged table t (id bigint primary key) | unlogged_table
          create table t (id bigint unique) | no_primary_key
          create table t (id bigint, x int, primary key (id, x)) | composite_key
          create table t (id text primary key) | key_type
          create table t (id uuid primary key) | key_type
          create table t (id numeric primary key) | key_type
          create domain d as bigint; create table t (id d primary key) | key_type
          create schema s; create type s.bigint as (x int); create table t (id s.bigint primary key) | key_type
          create table t (id bigint primary key, snowflake_id text) | column_taken
          create table t (id bigint primary key); create rule r as on delete to t do instead nothing | rewrite_rule
          create table t (id bigint primary key); create rule r as on insert to t do also select 1 | rewrite_rule
          create table t (id bigint primary key); insert into t values (1), (0) | id_not_positive
          create table t (id bigint primary key); insert into t values (1), (-5) | id_not_positive
          create table t (id bigint primary key); insert into t values (9223372036854775807) | id_too_large
          create table t (id bigint primary key, x int); create view v as select id, x from t group by id | view_groups_by_key
          create table t (id bigint primary key); create publication p for table t | published_table
          create table t (id bigint primary key); create table c (t int references t, t_snowflake_id int) | child_column_taken
          create table t (id bigint primary key); create table c (t int); alter table c add foreign key (t) references t not valid | child_foreign_key_not_valid
          create table t (id bigint primary key); create domain d as bigint; create table c (t d references t) | child_column_type
          create table t (id bigint primary key); create table c (t int references t); create rule r as on delete to c do instead nothing | child_rewrite_rule
          create table t (id bigint primary key); create table c (t int references t); create publication p for table c | child_published
          create table t (id bigint primary key); create table c (t int) partition by list (t); create table d partition of c default partition by list (t); create table e partition of d default; alter table d add foreign key (t) references t | child_intermediate
          create table t (id bigint primary key); create table c (t int references t); create function f() returns trigger language plpgsql as 'begin return new;end'; create trigger "~z" before insert on c for each row execute function f() | child_trigger_sorts_after
          """)
  void whatATableIsMadeOf(String ddl, String code) {
    assertRefused(wish("t"), List.of(ddl.split("; ")), List.of(code));
    FIXTURE.execute("drop schema if exists s cascade", "drop publication if exists p");
  }

  @Test
  void aForeignTable() {
    assumeSuperuser();
    assertRefused(
        wish("t"),
        List.of(
            "create foreign data wrapper w",
            "create server w foreign data wrapper w",
            "create foreign table t (id bigint) server w"),
        List.of("foreign_table"));
    FIXTURE.execute("drop foreign data wrapper w cascade");
  }

  @Test
  void aTableOfAnExtension() {
    assumeSuperuser();
    assertRefused(
        wish("t"), List.of(T, "alter extension plpgsql add table t"), List.of("extension_table"));
    FIXTURE.execute("alter extension plpgsql drop table t");
  }

  @ParameterizedTest
  @CsvSource({"for all tables", "for tables in schema public"})
  void aPublicationThatTakesTheTableAlong(String what) {
    assumeSuperuser();
    assertRefused(
        wish("t"), List.of(T, "create publication p " + what), List.of("published_table"));
    FIXTURE.execute("drop publication p");
  }

  @Test
  void aTargetOfASubscription() {
    assumeSuperuser();
    String subscribed =
        "insert into pg_subscription_rel values (1, 'public.t'::regclass, 'r', null)";
    assertRefused(
        wish("t"),
        List.of(T, "set allow_system_table_mods = on", subscribed),
        List.of("subscription_target"));
    FIXTURE.execute("set allow_system_table_mods = on", "delete from pg_subscription_rel");
  }

  @Test
  void aTableWithAllColumnsThatThereCanBe() {
    String columns =
        IntStream.range(1, 1600).mapToObj(i -> ", c" + i + " bool").collect(Collectors.joining());
    assertRefused(
        wish("t"),
        List.of("create table t (id bigint primary key" + columns + ")"),
        List.of("too_many_columns"));
  }

  @ParameterizedTest
  @CsvSource({
    "~coatcheck_insert2, BEFORE INSERT, triggers_left",
    "~coatcheck_, AFTER DELETE, triggers_left",
    "~d, BEFORE INSERT, trigger_sorts_after",
    "ä, BEFORE INSERT OR UPDATE, trigger_sorts_after",
  })
  void aTriggerInThePlaceOfOurs(String name, String when, String code) {
    String trigger =
        "create trigger \"%s\" %s on t for each row execute function f()".formatted(name, when);
    assertRefused(wish("t"), List.of(T, FUNCTION, trigger), List.of(code));
  }

  @ParameterizedTest
  @CsvSource({
    "~coatcheck, BEFORE INSERT, row",
    "zz, BEFORE INSERT, row",
    "~d, AFTER INSERT, row",
    "~d, BEFORE INSERT, statement",
    "~d, BEFORE UPDATE, row",
  })
  void aTriggerElsewhereIsNoObstacle(String name, String when, String each) {
    FIXTURE.execute(
        T,
        FUNCTION,
        "create trigger \"%s\" %s on t for each %s execute function f()"
            .formatted(name, when, each));

    assertThat(FIXTURE.inspect(wish("t"))).isInstanceOf(Inspection.Sound.class);
  }

  @ParameterizedTest
  @CsvSource({
    "pg_catalog, pg_class, system_table",
    "information_schema, sql_features, system_table",
    "pg_toast, pg_toast_1255, system_table",
    "pg_temp_3, t, temporary_table",
    "pg_temp, t, temporary_table",
    "coatcheck, mapping, own_table",
    "coatcheck_migration, checkpoint, own_table",
    "Public, t, table_unknown",
    "'', t, table_unknown",
    "public, '', table_unknown",
    "public, public.t, table_unknown",
    "public, '\"t\"', table_unknown",
    "public, 't; drop table t', table_unknown",
  })
  void aNameThatIsNoTableOfACustomer(String schema, String table, String code) {
    assertRefused(new TableSpec(schema, table, Optional.empty(), false), List.of(T), List.of(code));
  }

  @Test
  void aNameThatPostgresWouldCut() {
    String longest = "ü".repeat(31) + "x";
    FIXTURE.execute("create table \"" + longest + "\" (id bigint primary key)");
    assertThat(FIXTURE.inspect(wish(longest))).isInstanceOf(Inspection.Sound.class);

    for (String tooLong : List.of(longest + "x", "x".repeat(64), "ü".repeat(32))) {
      assertRefused(wish(tooLong), List.of(), List.of("name_too_long"));
      assertRefused(
          new TableSpec(tooLong, tooLong, Optional.of(tooLong), false),
          List.of(),
          List.of("name_too_long", "name_too_long", "name_too_long"));
    }
    assertRefused(wish("t\0"), List.of(), List.of("table_unknown"));
  }

  @Test
  void aNameOfAnotherCaseIsNamed() {
    FIXTURE.execute("create table \"Orders\" (id bigint primary key)");

    assertThat(FIXTURE.inspect(wish("orders")))
        .isInstanceOfSatisfying(
            Inspection.Refused.class,
            refused ->
                assertThat(refused.diagnostics().getFirst().detail())
                    .endsWith("There is public.\"Orders\"."));
  }

  @ParameterizedTest
  @CsvSource({"nowhere, created_at_unknown", "Made, created_at_unknown", "word, created_at_type"})
  void aTimeColumnThatIsNone(String column, String code) {
    assertRefused(
        new TableSpec("public", "t", Optional.of(column), false),
        List.of("create table t (id bigint primary key, made date, word text)"),
        List.of(code));
  }

  @Test
  void allReasonsAreGivenAtOnce() {
    assertRefused(
        new TableSpec("public", "t", Optional.of("nowhere"), false),
        List.of(
            "create unlogged table t (id bigint primary key, snowflake_id bigint)",
            "insert into t values (-1), (9223372036854775807)",
            "create rule r as on delete to t do instead nothing",
            FUNCTION,
            "create trigger \"~x\" before insert on t for each row execute function f()"),
        List.of(
            "unlogged_table",
            "rewrite_rule",
            "column_taken",
            "trigger_sorts_after",
            "id_not_positive",
            "id_too_large",
            "created_at_unknown"));
  }

  @Test
  void everyReasonSaysWhatToDo() {
    List<String> sentences = new ArrayList<>();
    for (Check check : Obstacles.of(false)) {
      sentences.add(check.diagnostic(List.of("one", "two")).orElseThrow().detail());
    }
    assertThat(sentences)
        .allSatisfy(
            sentence ->
                assertThat(sentence).contains("one, two").endsWith(".").doesNotContain("<"));
    assertThat(Obstacles.of(false)).extracting(Check::code).doesNotHaveDuplicates();
  }

  @Test
  void thePictureOfTheCatalogIsSharp() {
    FIXTURE.execute(T, FUNCTION);
    List<String> before = FIXTURE.catalog();
    assertThat(FIXTURE.catalog()).isEqualTo(before);

    for (String change :
        List.of(
            "alter table t add column x int",
            "create trigger x before insert on t for each row execute function f()",
            "create schema x",
            "create index on t (id)",
            "select nextval('t_id_seq')")) {
      FIXTURE.execute(change);
      List<String> after = FIXTURE.catalog();
      assertThat(after).as(change).isNotEqualTo(before);
      before = after;
    }
    FIXTURE.execute("drop schema x");
  }

  private static void assertRefused(TableSpec wish, List<String> ddl, List<String> codes) {
    FIXTURE.execute(ddl.toArray(String[]::new));
    List<String> before = FIXTURE.catalog();

    Inspection inspection = FIXTURE.inspect(wish);

    assertThat(inspection)
        .isInstanceOfSatisfying(
            Inspection.Refused.class,
            refused -> assertThat(codes(refused.diagnostics())).isEqualTo(codes));
    assertThat(FIXTURE.catalog()).isEqualTo(before);
  }

  private static void assumeSuperuser() {
    assumeTrue(FIXTURE.column("show is_superuser").equals(List.of("on")), "needs a superuser");
  }
}
