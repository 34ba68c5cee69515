package dev.coatcheck.migrate.plan;

import static dev.coatcheck.migrate.plan.SourceFixture.codes;
import static dev.coatcheck.migrate.plan.SourceFixture.refusals;
import static dev.coatcheck.migrate.plan.SourceFixture.wish;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.TableSpec;
import dev.coatcheck.postgres.sql.TestSession;
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
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What can't get new keys is refused with the reason: for what it is made of, or for what goes on
 * in its source and how that is set up.
 */
class RefusalTest {
  @RegisterExtension static final SourceFixture FIXTURE = new SourceFixture();
  private static final TableSurvey USUAL = new TableSurvey(System::nanoTime);
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
          create view t as select 1 as id | view
          create materialized view t as select 1 as id | materialized_view
          create sequence t | sequence
          create table u (id bigint); create index t on u (id) | not_a_table
          create table t (id bigint primary key) partition by range (id) | partitioned_table
          create table p (id bigint primary key) partition by range (id); create table t partition of p default | partition
          create table p (id bigint); create table t (primary key (id)) inherits (p) | inheritance
          create table t (id bigint primary key); create table c () inherits (t) | inheritance
          create type k as (id bigint); create table t of k (primary key (id)) | typed_table
          create table t (id bigint unique) | no_primary_key
          create table t (id bigint, x int, primary key (id, x)) | composite_key
          create table t (id numeric primary key) | key_type
          create domain d as bigint; create table t (id d primary key) | key_type
          create schema s; create type s.bigint as (x int); create table t (id s.bigint primary key) | key_type
          create table t (id bigint primary key); insert into t values (1), (0) | id_not_positive
          create table t (id bigint primary key, x int); create view v as select id, x from t group by id | view_groups_by_key
          """)
  void whatATableIsMadeOf(String ddl, String code) {
    FIXTURE.execute(ddl.split("; "));
    assertRefused(wish("t"), code);
    FIXTURE.execute("drop schema if exists s cascade");
  }

  @Test
  void whatItsChildrenAreMadeOf() {
    FIXTURE.execute(
        T,
        FUNCTION,
        "create table taken (t int references t, t_snowflake_id int)",
        "create domain d as bigint",
        "create table typed (t d references t)",
        "create table generated (n bigint, t bigint generated always as (n) stored references t)",
        "create table unchecked (t int)",
        "alter table unchecked add foreign key (t) references t not valid",
        "create table heir (t int references t)",
        "create table heiress () inherits (heir)",
        "create table root (t int, n int) partition by list (n)",
        "create table branch partition of root default partition by list (abs(t))",
        "create table leaf partition of branch default",
        "alter table branch add foreign key (t) references t",
        "create table c (t int references t)",
        "create rule r as on delete to c do instead nothing",
        "create trigger \"~z\" before insert on c for each row execute function f()",
        "create publication p for table c");

    assertRefused(
        wish("t"),
        "child_column_taken",
        "child_column_type",
        "child_column_generated",
        "child_inheritance",
        "child_partition_key",
        "child_foreign_key_not_valid",
        "child_intermediate",
        "child_rewrite_rule",
        "child_trigger_sorts_after",
        "child_published");
    FIXTURE.execute("drop publication p");
  }

  @Test
  void aForeignTable() {
    assumeSuperuser();
    FIXTURE.execute(
        "create foreign data wrapper w",
        "create server w foreign data wrapper w",
        "create foreign table t (id bigint) server w");
    assertRefused(wish("t"), "foreign_table");
    FIXTURE.execute("drop foreign data wrapper w cascade");
  }

  @Test
  void aTableOfAnExtensionASubscriptionAndAPublicationOfAllTables() {
    assumeSuperuser();
    FIXTURE.execute(
        T,
        "alter extension plpgsql add table t",
        "set allow_system_table_mods = on",
        "insert into pg_subscription_rel values (1, 'public.t'::regclass, 'r', null)",
        "create publication p for all tables");
    assertRefused(wish("t"), "extension_table", "subscription_target", "published_table");
    FIXTURE.execute(
        "drop publication p",
        "set allow_system_table_mods = on",
        "delete from pg_subscription_rel",
        "alter extension plpgsql drop table t");
  }

  /** Such a publication lets no table go. */
  @Test
  void aPublicationOfASchemaHasToListItsTablesInstead() {
    assumeSuperuser();
    FIXTURE.execute(
        T,
        "create table c (t int references t)",
        "create publication p for tables in schema public");
    try {
      assertThat(FIXTURE.inspect(wish("t")))
          .isInstanceOfSatisfying(
              TableSurvey.Outcome.Refused.class,
              refused ->
                  assertThat(refused.diagnostics())
                      .extracting(Diagnostic::detail)
                      .hasSize(2)
                      .allMatch(why -> why.contains("has to list its tables instead")));
      FIXTURE.execute("alter publication p drop tables in schema public");
      assertThat(FIXTURE.inspect(wish("t"))).isInstanceOf(TableSurvey.Outcome.Sound.class);
    } finally {
      FIXTURE.execute("drop publication p");
    }
  }

  @Test
  void aTableWithAllColumnsThatThereCanBe() {
    String columns =
        IntStream.range(1, 1600).mapToObj(i -> ", c" + i + " bool").collect(Collectors.joining());
    FIXTURE.execute("create table t (id bigint primary key" + columns + ")");
    assertRefused(wish("t"), "too_many_columns");
  }

  @Test
  void triggersInThePlaceOfOursAreRefusedAndOthersAreNoObstacle() {
    FIXTURE.execute(
        T,
        FUNCTION,
        trigger("~coatcheck", "before insert", "row"),
        trigger("zz", "before insert", "row"),
        trigger("~d1", "after insert", "row"),
        trigger("~d2", "before insert", "statement"),
        trigger("~d3", "before update", "row"));
    assertThat(FIXTURE.inspect(wish("t"))).isInstanceOf(TableSurvey.Outcome.Sound.class);

    FIXTURE.execute(
        trigger("~coatcheck_insert2", "before insert", "row"),
        trigger("~coatcheck_", "after delete", "row"),
        trigger("~d", "before insert", "row"),
        trigger("ä", "before insert or update", "row"));
    assertThat(FIXTURE.inspect(wish("t")))
        .isInstanceOfSatisfying(
            TableSurvey.Outcome.Refused.class,
            refused -> {
              assertThat(codes(refused.diagnostics()))
                  .containsExactly("triggers_left", "trigger_sorts_after");
              assertThat(refused.diagnostics().getFirst().detail())
                  .contains("run: ~coatcheck_, ~coatcheck_insert2.");
              assertThat(refused.diagnostics().getLast().detail()).contains("last: ~d, ä.");
            });
  }

  private static String trigger(String name, String when, String each) {
    return "create trigger \"%s\" %s on t for each %s execute function f()"
        .formatted(name, when, each);
  }

  @Test
  void aNameThatIsNoTableOfACustomer() {
    FIXTURE.execute(T);
    for (String name :
        List.of(
            "pg_catalog/pg_class/system_table",
            "information_schema/sql_features/system_table",
            "pg_toast/pg_toast_1255/system_table",
            "pg_temp_3/t/temporary_table",
            "pg_temp/t/temporary_table",
            "coatcheck/mapping/own_table",
            "coatcheck_migration/checkpoint/own_table",
            "Public/t/table_unknown",
            "/t/table_unknown",
            "public//table_unknown",
            "public/public.t/table_unknown",
            "public/\"t\"/table_unknown",
            "public/t; drop table t/table_unknown",
            "public/t\0/table_unknown")) {
      String[] parts = name.split("/", -1);
      assertRefused(new TableSpec(parts[0], parts[1], Optional.empty(), false), parts[2]);
    }
  }

  @Test
  void aNameThatPostgresWouldCut() {
    String longest = "ü".repeat(31) + "x";
    FIXTURE.execute("create table \"" + longest + "\" (id bigint primary key)");
    assertThat(FIXTURE.inspect(wish(longest))).isInstanceOf(TableSurvey.Outcome.Sound.class);

    for (String tooLong : List.of(longest + "x", "x".repeat(64), "ü".repeat(32))) {
      assertRefused(
          new TableSpec(tooLong, tooLong, Optional.of(tooLong), false),
          "name_too_long",
          "name_too_long",
          "name_too_long");
    }
  }

  @Test
  void aNameOfAnotherCaseIsNamed() {
    FIXTURE.execute("create table \"Orders\" (id bigint primary key)");

    assertThat(FIXTURE.inspect(wish("orders")))
        .isInstanceOfSatisfying(
            TableSurvey.Outcome.Refused.class,
            refused ->
                assertThat(refused.diagnostics().getFirst().detail())
                    .endsWith("There is public.\"Orders\"."));
  }

  @Test
  void aTimeColumnThatIsNone() {
    FIXTURE.execute("create table t (id bigint primary key, made date, word text)");
    assertRefused(new TableSpec("public", "t", Optional.of("Made"), false), "created_at_unknown");
    assertRefused(new TableSpec("public", "t", Optional.of("word"), false), "created_at_type");
  }

  @Test
  void allReasonsAreGivenAtOnce() {
    FIXTURE.execute(
        "create unlogged table t (id bigint primary key, snowflake_id bigint)",
        "insert into t values (-1), (9223372036854775807)",
        "create rule r as on delete to t do instead nothing",
        FUNCTION,
        trigger("~x", "before insert", "row"));
    assertRefused(
        new TableSpec("public", "t", Optional.of("nowhere"), false),
        "unlogged_table",
        "rewrite_rule",
        "column_taken",
        "trigger_sorts_after",
        "id_not_positive",
        "id_too_large",
        "created_at_unknown");
  }

  /** A number that is there twice for a moment has two rows with keys. */
  @Test
  void aDeferrablePrimaryKey() {
    FIXTURE.execute("create table t (id bigint primary key deferrable)");
    assertRefused(wish("t"), "key_deferrable");
  }

  @Test
  void aForeignKeyThatIsNotEnforcedCanNotBeValidated() {
    assumeTrue(
        FIXTURE
                .column("select 'x' where current_setting('server_version_num')::int >= 180000")
                .size()
            == 1,
        "Postgres 18");
    FIXTURE.execute(T, "create table c (t bigint references t not enforced)");
    assertThat(FIXTURE.inspect(wish("t")))
        .isInstanceOfSatisfying(
            TableSurvey.Outcome.Refused.class,
            refused ->
                assertThat(
                        SourceFixture.detail(refused.diagnostics(), "child_foreign_key_not_valid"))
                    .contains("public.c (c_t_fkey, not enforced)", "alter constraint … enforced"));

    FIXTURE.execute("drop table c", "alter table t add check (id > 5) not enforced");
    assertThat(FIXTURE.inspect(wish("t")))
        .isInstanceOfSatisfying(
            TableSurvey.Outcome.Sound.class,
            sound ->
                assertThat(sound.shape().notes())
                    .extracting(Diagnostic::code)
                    .doesNotContain("not_valid_checks"));
  }

  @Test
  void aTableOfAnotherRole() {
    FIXTURE.execute(T);
    Source plain = FIXTURE.asPlain();

    assertRefused(plain, "not_owner", "no_select");
    FIXTURE.execute("grant select on t to " + FIXTURE.plain());
    assertRefused(plain, "not_owner");
  }

  @Test
  void anOwnerWhoMayNotMakeWhatIsNeeded() {
    String plain = FIXTURE.plain();
    FIXTURE.execute(T, "alter table t owner to " + plain);
    Source source = FIXTURE.asPlain();
    assertThat(USUAL.inspect(source, wish("t"))).isInstanceOf(TableSurvey.Outcome.Sound.class);

    FIXTURE.execute(
        "revoke create on schema public from " + plain,
        "revoke create on database " + FIXTURE.name() + " from " + plain);
    try {
      assertRefused(source, "no_create_on_schema", "no_create_on_database");
      // Rights on a schema of another role are none to give away, and the table's owner needs them.
      FIXTURE.execute(
          "create schema coatcheck_migration",
          "grant usage, create on schema coatcheck_migration to " + plain);
      assertRefused(source, "no_create_on_schema", "no_create_on_database");
      FIXTURE.execute("alter schema coatcheck_migration owner to " + plain);
      assertRefused(source, "no_create_on_schema");
    } finally {
      FIXTURE.execute(
          "drop schema if exists coatcheck_migration",
          "grant create on database " + FIXTURE.name() + " to " + plain);
    }
  }

  @Test
  void childrenInSchemasWhereNoIndexCanBeMade() {
    String plain = FIXTURE.plain();
    FIXTURE.execute(
        T,
        "create schema lines",
        "create table lines.c (n int, t bigint references t) partition by list (n)",
        "create schema parts",
        "create table parts.c_1 partition of lines.c default",
        "alter table t owner to " + plain,
        "alter table lines.c owner to " + plain,
        "alter table parts.c_1 owner to " + plain,
        "grant usage on schema lines, parts to " + plain);
    try {
      Source source = FIXTURE.asPlain();
      assertThat(USUAL.inspect(source, wish("t")))
          .isInstanceOfSatisfying(
              TableSurvey.Outcome.Refused.class,
              refused ->
                  assertThat(
                          SourceFixture.detail(refused.diagnostics(), "child_no_create_on_schema"))
                      .contains("foreign key to the table: lines, parts. Grant it create"));
      FIXTURE.execute("grant create on schema lines, parts to " + plain);
      assertThat(USUAL.inspect(source, wish("t"))).isInstanceOf(TableSurvey.Outcome.Sound.class);
    } finally {
      FIXTURE.execute("drop schema lines, parts cascade");
    }
  }

  @Test
  void childrenOfOtherRolesAndChildrenWhoseOwnersAreBoundByRowSecurity() {
    FIXTURE.execute(
        T, "alter table t owner to " + FIXTURE.plain(), "create table c (t bigint references t)");
    Source source = FIXTURE.asPlain();
    assertRefused(source, "child_not_owned");

    FIXTURE.execute(
        "alter table c owner to " + FIXTURE.plain(),
        "alter table c enable row level security",
        "alter table c force row level security");
    assertRefused(source, "child_forced_row_security");
  }

  @Test
  void rowSecurityThatBindsTheOwnerToo() {
    FIXTURE.execute(
        T,
        "insert into t default values",
        "alter table t owner to " + FIXTURE.plain(),
        "alter table t enable row level security");
    Source source = FIXTURE.asPlain();
    assertThat(USUAL.inspect(source, wish("t")))
        .isInstanceOfSatisfying(
            TableSurvey.Outcome.Sound.class,
            sound -> assertThat(sound.shape().size().rows()).isOne());

    FIXTURE.execute("alter table t force row level security");
    assertRefused(source, "forced_row_security");
  }

  /** Its key may be part of an application's code, and the run can't change that. */
  @Test
  void aRowBelowOneIsRefusedWithTheOnlyWayThatThereIs() {
    FIXTURE.execute(T, "insert into t values (0), (1)");
    assertThat(FIXTURE.inspect(wish("t")))
        .isInstanceOfSatisfying(
            TableSurvey.Outcome.Refused.class,
            refused ->
                assertThat(SourceFixture.detail(refused.diagnostics(), "id_not_positive"))
                    .contains("the key 0", "only once that row has another key", "or is deleted"));

    FIXTURE.execute("update t set id = 2 where id = 0");
    assertThat(FIXTURE.inspect(wish("t"))).isInstanceOf(TableSurvey.Outcome.Sound.class);
  }

  /** Connections of the pool may be older than the setting, and than its end. */
  @Test
  void aUserWhoseTransactionsOnlyRead() {
    FIXTURE.execute(T, "alter table t owner to " + FIXTURE.plain());
    Source source = FIXTURE.asPlain();
    assertThat(USUAL.inspect(source, wish("t"))).isInstanceOf(TableSurvey.Outcome.Sound.class);
    FIXTURE.execute("alter role " + FIXTURE.plain() + " set default_transaction_read_only = on");
    try {
      assertRefused(source, "read_only_user");
      assertRefused(FIXTURE.asPlain(), "read_only_user");
    } finally {
      FIXTURE.execute("alter role " + FIXTURE.plain() + " reset default_transaction_read_only");
    }
    assertThat(USUAL.inspect(source, wish("t"))).isInstanceOf(TableSurvey.Outcome.Sound.class);
  }

  /** Statements of ours would find what others made there. */
  @ParameterizedTest
  @ValueSource(strings = {"currentSchema=public", "options=-c%20search_path=public"})
  void aUrlWithASearchPathOfItsOwn(String parameter) {
    FIXTURE.execute(T);
    assertRefused(FIXTURE.with(parameter), "pooled_connection");
  }

  @Test
  void anOldTransactionIsInTheWay() {
    FIXTURE.execute(T);
    TableSurvey strict =
        new TableSurvey(new TableSurvey.Limits(1_000, 1 << 20, 0, 1 << 30), System::nanoTime);
    try (TestSession idle = FIXTURE.sql().session()) {
      idle.begin("select 1");

      assertThat(refusals(strict.inspect(FIXTURE.source, wish("t"))))
          .containsExactly("old_transaction");
      assertThat(FIXTURE.inspect(wish("t"))).isInstanceOf(TableSurvey.Outcome.Sound.class);
    }
  }

  @Test
  void aPreparedTransactionIsInTheWay() {
    FIXTURE.execute(T, "begin", "insert into t default values", "prepare transaction 'odd''one'");
    try {
      assertThat(refusals(FIXTURE.inspect(wish("t")))).containsExactly("prepared_transaction");
    } finally {
      FIXTURE.execute("rollback prepared 'odd''one'");
    }
  }

  @Test
  void aVacuumAgainstWraparoundIsInTheWay() {
    FIXTURE.execute(T);
    TableSurvey anyAge =
        new TableSurvey(new TableSurvey.Limits(1_000, 1 << 20, 3_600, -1), System::nanoTime);
    assertThat(anyAge.inspect(FIXTURE.source, wish("t")))
        .isInstanceOf(TableSurvey.Outcome.Sound.class);
    try (TestSession vacuum = FIXTURE.sql().session()) {
      vacuum.begin("lock table t in share update exclusive mode");

      assertThat(refusals(anyAge.inspect(FIXTURE.source, wish("t"))))
          .containsExactly("wraparound_vacuum");
      assertThat(FIXTURE.inspect(wish("t"))).isInstanceOf(TableSurvey.Outcome.Sound.class);
    }
  }

  @Test
  void aServerThatMayLoseCommits() {
    FIXTURE.execute(T, "alter database " + FIXTURE.name() + " set synchronous_commit = off");
    try {
      assertThat(refusals(USUAL.inspect(FIXTURE.asPlain(), wish("t"))))
          .contains("server_loses_commits");
    } finally {
      FIXTURE.execute("alter database " + FIXTURE.name() + " reset synchronous_commit");
    }
  }

  @Test
  void everyReasonSaysWhatToDo() {
    List<String> sentences = new ArrayList<>();
    List<Check> checks = new ArrayList<>(Refusals.of(false));
    checks.addAll(ChildRefusals.ALL);
    for (Check check : checks) {
      sentences.add(check.diagnostic(List.of("one", "two")).orElseThrow().detail());
    }
    assertThat(sentences)
        .allSatisfy(
            sentence ->
                assertThat(sentence).contains("one, two").endsWith(".").doesNotContain("<"));
    assertThat(checks).extracting(Check::code).doesNotHaveDuplicates();
  }

  private static void assertRefused(TableSpec wish, String... codes) {
    assertThat(refusals(FIXTURE.inspect(wish))).as("%s", wish).containsExactly(codes);
  }

  private static void assertRefused(Source source, String... codes) {
    assertThat(refusals(USUAL.inspect(source, wish("t")))).containsExactly(codes);
  }

  private static void assumeSuperuser() {
    assumeTrue(FIXTURE.column("show is_superuser").equals(List.of("on")), "needs a superuser");
  }
}
