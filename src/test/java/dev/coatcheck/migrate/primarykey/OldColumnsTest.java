package dev.coatcheck.migrate.primarykey;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.migrate.plan.CalledStatements.Called;
import dev.coatcheck.migrate.run.ActionOutcome;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.OldColumns;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.table.Phase;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What still uses the columns of the legacy IDs is seen, and keeps them unless it is accepted. */
@Tag("faults")
class OldColumnsTest {
  @RegisterExtension static final MigrationFixture FIXTURE = MigrationFixture.apart();
  private static final String APP = "old_columns_app";
  private static TableMigration run;

  @BeforeAll
  static void migrate() {
    FIXTURE.orders(100);
    FIXTURE.execute(
        "create extension pg_stat_statements",
        "create table item (n int, order_id bigint references orders)",
        "create table other (id int)",
        "create role " + APP,
        "grant all on orders, item, other to " + APP,
        "grant usage on sequence orders_id_seq to " + APP);
    run = FIXTURE.run();
    asApplication("select id from orders where id = 1", "select id from orders where id = 2");
    FIXTURE.switchKey(run);
  }

  @AfterAll
  static void close() {
    FIXTURE.execute("drop owned by " + APP, "drop role " + APP);
  }

  @Test
  void statementsThatNameAnOldColumnCountFromTheSwitchOn() {
    assertThat(look().use().statements()).isEmpty();
    FIXTURE.execute("select id from orders where id = 3");
    asApplication(
        "select snowflake_id as id from orders",
        "select o.snowflake_id, x.id from orders o cross join other x",
        "select id from other");
    assertThat(look().use().statements()).as("nothing of it names the column").isEmpty();
    assertThat(look().use().notSearched()).isEmpty();

    asApplication(
        "select id from orders where id = 3",
        "select id from orders where id = 4",
        "insert into item (n, order_id) values (1, 1)",
        "update orders o set created_at = now() where o.id = 1");

    assertThat(look().use().statements())
        .extracting(Called::text, Called::calls)
        .containsExactlyInAnyOrder(
            org.assertj.core.groups.Tuple.tuple("select id from orders where id = $1", 2L),
            org.assertj.core.groups.Tuple.tuple(
                "insert into item (n, order_id) values ($1, $2)", 1L),
            org.assertj.core.groups.Tuple.tuple(
                "update orders o set created_at = now() where o.id = $1", 1L));
    List<Diagnostic> missing = refused();
    assertThat(missing).extracting(Diagnostic::code).containsExactly("old_column");
    assertThat(missing.getFirst().detail())
        .contains("'select id from orders where id = $1' (2 calls)");
    assertThat(FIXTURE.now(run).status().state()).isEqualTo(RunState.DONE);

    // The next switch begins anew.
    FIXTURE.undo(run, Phase.SWITCH);
    FIXTURE.switchKey(run);
    assertThat(look().use().statements()).isEmpty();
  }

  @Test
  void functionsAndCodeThatCountsColumnsAreFoundToo() {
    FIXTURE.execute(
        "create function newest() returns bigint language sql as 'select max(id) from orders'",
        "create table log as select * from orders limit 0",
        "create function keep() returns trigger language plpgsql as"
            + " 'begin insert into log select old.*; return null; end'",
        "create trigger keep after delete on orders for each row execute function keep()");
    try {
      assertThat(look().use().functions()).containsExactly("public.newest");
      assertThat(look().use().rowShapes()).singleElement().asString().contains("keep");
      assertThat(refused()).extracting(Diagnostic::code).contains("old_column", "row_shape");
    } finally {
      FIXTURE.execute(
          "drop trigger keep on orders", "drop function newest(), keep()", "drop table log");
    }
  }

  @Test
  void whatADropWouldReachOrTakeAlongIsFoundToo() {
    FIXTURE.execute(
        "create table item_2019 () inherits (item)",
        "create unique index on orders (id, created_at)",
        "create unique index on orders (snowflake_id, created_at)",
        "create table pair (order_id bigint, at timestamptz, constraint pair_key"
            + " foreign key (order_id, at) references orders (id, created_at))",
        "create table follower (id bigint default nextval('orders_id_seq'))",
        "create statistics together on id, created_at from orders");
    try {
      assertThat(look().dependents())
          .containsExactlyInAnyOrder(
              "the inheritance of public.item_2019 from public.item",
              "constraint pair_key on table public.pair",
              "default value for column id of table public.follower, by public.orders_id_seq",
              "statistics object public.together");
      assertThat(FIXTURE.contract(run, List.of("old_column")).toString())
          .contains("old_column_needed", "item_2019", "pair_key", "follower", "together");
    } finally {
      FIXTURE.execute(
          "drop table item_2019, pair, follower",
          "drop statistics together",
          "drop index orders_id_created_at_idx, orders_snowflake_id_created_at_idx");
    }
  }

  /** The catalog knows of no dependency. */
  @Test
  void whatTakesNumbersFromTheSequenceByItsNameIsFoundToo() {
    FIXTURE.execute(
        "alter table orders alter column id set default nextval('public.orders_id_seq'::text)",
        "create table bill (id bigint default nextval('public.orders_id_seq'::text))",
        "create function next_number() returns bigint language plpgsql as"
            + " $$begin return nextval('public.\"orders_id_seq\"'); end$$",
        "create function other_number() returns bigint language plpgsql as"
            + " $$begin return nextval('public.old_orders_id_seq_2'); end$$");
    try {
      assertThat(look().dependents())
          .as("not the default that goes with the column itself")
          .containsExactly(
              "default value for column id of table public.bill, by public.orders_id_seq");
      assertThat(look().use().functions()).containsExactly("public.next_number");
      assertThat(look().use().preconditions().getFirst().found())
          .containsExactly("function public.next_number");
      FIXTURE.execute("alter sequence orders_id_seq owned by none");
      assertThat(look().dependents()).as("it stays when the column goes").isEmpty();
      assertThat(look().use().functions()).isEmpty();
    } finally {
      FIXTURE.execute(
          "alter sequence orders_id_seq owned by orders.id",
          "alter table orders alter column id set default nextval('orders_id_seq')",
          "drop table bill",
          "drop function next_number(), other_number()");
    }
  }

  @Test
  void onlyWhatForbidsAsMuchCountsAsTheSame() {
    FIXTURE.execute(
        "create extension btree_gist",
        "alter table item add constraint one_each exclude using hash (order_id with =)",
        "alter table item add constraint apart exclude using gist (order_id with =, n with <>)",
        "create index on item using gist (order_id_snowflake_id, n)",
        "alter table item add constraint with_n unique (order_id) include (n)",
        "create unique index on item (order_id_snowflake_id, n)",
        "alter table item add constraint no_nulls unique nulls not distinct (n, order_id)",
        "alter table item add unique (n, order_id_snowflake_id)");
    try {
      assertThat(look().dependents())
          .containsExactlyInAnyOrder(
              "the index public.one_each",
              "the index public.apart",
              "the index public.with_n",
              "the index public.no_nulls");

      FIXTURE.execute(
          "alter table item add exclude using hash (order_id_snowflake_id with =)",
          "alter table item add exclude using gist (order_id_snowflake_id with =, n with <>)",
          "alter table item add unique (order_id_snowflake_id) include (n)",
          "alter table item add unique nulls not distinct (n, order_id_snowflake_id)");
      assertThat(look().dependents()).isEmpty();
    } finally {
      FIXTURE.execute(
          "alter table item drop constraint one_each, drop constraint apart,"
              + " drop constraint with_n, drop constraint no_nulls",
          "drop extension btree_gist cascade");
    }
  }

  @Test
  void aCheckAndADefaultOfAReferringColumnCountUnlessTheNewColumnHasThemToo() {
    FIXTURE.execute(
        "alter table item add constraint there check (order_id is not null)",
        "alter table item alter column order_id set default abs(1)");
    try {
      assertThat(look().dependents())
          .containsExactlyInAnyOrder(
              "the check there", "the default abs(1) of public.item.order_id");

      FIXTURE.execute(
          "alter table item add constraint there_too check (order_id_snowflake_id is not null)",
          "alter table item alter column order_id set default 1");
      assertThat(look().dependents()).as("the run gives the new column a constant").isEmpty();

      FIXTURE.execute("alter table item alter column order_id set default 1000000");
      assertThat(look().dependents())
          .as("a row that is not there has no key")
          .containsExactly("the default 1000000 of public.item.order_id");

      FIXTURE.execute(
          "alter table item alter column order_id drop default",
          "delete from item",
          "alter table item alter column order_id set not null",
          "alter table item alter column order_id add generated by default as identity");
      assertThat(look().dependents())
          .containsExactly("the default generated as identity of public.item.order_id");
    } finally {
      FIXTURE.execute(
          "alter table item drop constraint there, drop constraint if exists there_too",
          "alter table item alter column order_id drop identity if exists",
          "alter table item alter column order_id drop not null",
          "alter table item alter column order_id drop default");
    }
  }

  private static OldColumns look() {
    return FIXTURE.migrations().oldColumns(FIXTURE.now(run)).orElseThrow();
  }

  private static List<Diagnostic> refused() {
    if (FIXTURE.contract(run, List.of())
        instanceof
        IdempotentResult.Unkeyed<ActionOutcome>(
            ActionOutcome.NotAccepted(List<Diagnostic> missing))) {
      return missing;
    }
    throw new AssertionError("not refused");
  }

  private static void asApplication(String... statements) {
    String[] all = new String[statements.length + 2];
    all[0] = "set role " + APP;
    System.arraycopy(statements, 0, all, 1, statements.length);
    all[all.length - 1] = "reset role";
    FIXTURE.execute(all);
  }
}
