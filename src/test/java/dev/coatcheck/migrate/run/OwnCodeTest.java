package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.source.SearchPath;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The table's triggers, checks and index functions name things without their schema, and go on to
 * find them: in our updates, and in the application's transactions. They run as the table's owner.
 */
class OwnCodeTest {
  private final OwnedSource shop = new OwnedSource();
  private MigrationFixture fixture;

  @BeforeEach
  void shop() {
    shop.admin(
        "create schema app authorization " + shop.owner,
        "alter role " + shop.owner + " set search_path = app, public");
    shop.application(
        "create table orders (id bigserial primary key, created_at timestamptz default now(),"
            + " text text)",
        "create table audit (what text, id bigint, by_user name)",
        "create function helper(bigint) returns boolean language sql immutable as 'select $1 > 0'",
        "create function positive(bigint) returns boolean language plpgsql immutable as"
            + " $$ begin return helper($1); end $$",
        "alter table orders add constraint positive check (positive(id))",
        "create function shown(bigint) returns bigint language plpgsql immutable as"
            + " $$ begin perform helper($1); return $1; end $$",
        // With rows in it Postgres 17 and later would look for the helper in pg_catalog only.
        "create unique index on orders (shown(id))",
        "insert into orders (created_at) select now() - make_interval(secs => 5000 - n)"
            + " from generate_series(1, 1000) n",
        trigger("before_row", "before update", "return new"),
        trigger("after_row", "after update", "return null"),
        """
        create function deferred() returns trigger language plpgsql as $$ begin
          insert into audit values ('deferred', new.id, current_user); return null; end $$
        """,
        "create constraint trigger deferred after insert or update on orders"
            + " deferrable initially deferred for each row execute function deferred()");
    fixture = MigrationFixture.on(shop.forMigrator());
  }

  private static String trigger(String name, String when, String then) {
    return """
    create function %1$s() returns trigger language plpgsql as $$ begin
      insert into audit values ('%1$s', new.id, current_user);
      %3$s; end $$;
    create trigger %1$s %2$s on orders for each row execute function %1$s()
    """
        .formatted(name, when, then);
  }

  @AfterEach
  void close() {
    if (fixture != null) {
      fixture.close();
    }
    shop.close();
  }

  @Test
  void itWorksInOurUpdatesAndRunsAsTheOwner() {
    TableMigration run = fixture.plan("app", "orders", Optional.of("created_at"));
    assertThat(run.target().applicationPath().schemas()).containsExactly("app", "public");
    fixture.rate(run, 200);
    fixture.start(run);
    fixture.await(() -> fixture.now(run).progress().rowsDone() > 0);
    assertThat(fixture.migrations().unmappedRows().fillOnDemand(fixture.type, 990)).isTrue();
    fixture.rate(run, 0);
    fixture.await(run, RunState.DONE);

    assertThat(
            shop.texts(
                "select what || ' ' || count(distinct id) || ' ' || by_user from app.audit"
                    + " group by what, by_user order by what"))
        .containsExactly(
            "after_row 1000 " + shop.owner,
            "before_row 1000 " + shop.owner,
            "deferred 1000 " + shop.owner);
    worksInTheApplicationsCommit();
    fixture.undo(run, Phase.EXPAND);
  }

  /** The insert waits for the delete, so that our trigger has to give it its old key. */
  private void worksInTheApplicationsCommit() {
    String key = shop.text("select snowflake_id from app.orders where id = 5");
    shop.admin("truncate app.audit");
    try (TestSession leaving = shop.application().begin("delete from orders where id = 5");
        TestSession coming = shop.application().session()) {
      CompletableFuture<Void> inserted =
          CompletableFuture.runAsync(
              () -> coming.begin("insert into orders (id) values (5)"), Thread::startVirtualThread);
      Awaitility.await()
          .until(() -> !shop.text("select 1 from pg_locks where not granted").isEmpty());
      leaving.commit();
      inserted.join();
      coming.commit();
    }

    assertThat(shop.text("select snowflake_id from app.orders where id = 5")).isEqualTo(key);
    assertThat(shop.texts("select distinct what from app.audit where id = 5 order by what"))
        .containsExactly("after_row", "before_row", "deferred");
  }

  /** A child of another role, whose code is not ours either. */
  @Test
  @Tag("faults")
  void itWorksInTheChildrenOfOtherRoles() {
    String other = shop.owner + "_other";
    shop.admin("create role " + other, "grant " + other + " to " + shop.migrator);
    try {
      shop.admin(
          "set search_path = app, public",
          """
          set search_path = app;
          create table line (id bigserial primary key, order_id bigint not null references orders);
          insert into line (order_id) select n from generate_series(1, 1000) n;
          create function line_changed() returns trigger language plpgsql as $$ begin
            insert into audit values (tg_name, new.order_id, current_user); return new; end $$;
          create trigger line_before before update on line for each row
            execute function line_changed();
          create constraint trigger line_deferred after update on line
            deferrable initially deferred for each row execute function line_changed();
          alter table line add constraint line_positive check (positive(order_id));
          """,
          "alter table app.line owner to " + other,
          "grant usage on schema app to " + other,
          "grant insert on app.audit to " + other,
          "grant select, insert, update on app.line to " + shop.owner,
          "grant usage on app.line_id_seq to " + shop.owner);
      TableMigration run = fixture.plan("app", "orders", Optional.of("created_at"));
      fixture.run(run);
      assertThat(
              shop.texts(
                  "select what || ' ' || count(distinct id) || ' ' || by_user from app.audit"
                      + " where what like 'line%' group by what, by_user order by what"))
          .containsExactly("line_before 1000 " + other, "line_deferred 1000 " + other);

      fixture.switchKey(run);
      shop.admin("truncate app.audit");
      shop.application(
          "with c as (insert into line (order_id) values (5000) returning order_id)"
              + " insert into orders (id) select order_id from c");
      assertThat(
              shop.texts(
                  "select distinct what || ' ' || by_user from app.audit where what like 'line%'"
                      + " and id = 5000 order by 1"))
          .containsExactly("line_before " + other, "line_deferred " + other);
      fixture.undo(run, Phase.EXPAND);
    } finally {
      shop.admin("drop owned by " + other + " cascade", "drop role " + other);
    }
  }

  /**
   * A row that comes before the row that it refers to gets its twin at the commit, among triggers
   * of the application that wait for the commit too. What those do may still be deferred.
   */
  @Test
  @Tag("faults")
  void whatWaitsForACommitIsStillDeferredThere() {
    shop.application(
        "create table line (id bigserial primary key,"
            + " order_id bigint references orders deferrable initially deferred)");
    TableMigration run = fixture.run(fixture.plan("app", "orders", Optional.of("created_at")));
    shop.application(
        "create table parcel (id bigint primary key)",
        "create table label (parcel_id bigint references parcel deferrable initially deferred)",
        """
        create function packed() returns trigger language plpgsql as $$ begin
          insert into label values (new.id); insert into parcel values (new.id);
          return null; end $$
        """,
        "create constraint trigger packed after insert on orders deferrable initially deferred"
            + " for each row execute function packed()");

    try (TestSession writer = shop.application().session()) {
      writer.begin(
          "insert into line (order_id) values (5000)", "insert into orders (id) values (5000)");
      writer.commit();
    }

    assertThat(shop.texts("select parcel_id from app.label")).containsExactly("5000");
    assertThat(
            shop.texts(
                "select o.id from app.line l"
                    + " join app.orders o on o.snowflake_id = l.order_id_snowflake_id"))
        .containsExactly("5000");
    fixture.undo(run, Phase.EXPAND);
  }

  /** Before anything is on the table that the application could meet. */
  @Test
  void aStartTriesOneRowAndIsRefusedWithWhatTheTriggerSays() {
    TableMigration wrong = fixture.plan("app", "orders", SearchPath.parse("public").orElseThrow());

    List<Diagnostic> findings = fixture.refused(wrong);

    assertThat(findings)
        .singleElement()
        .satisfies(finding -> assertThat(finding.code()).isEqualTo("trial_failed"))
        .satisfies(
            finding -> assertThat(finding.detail()).contains("relation \"audit\" does not exist"));
    assertThat(
            shop.texts(
                "select attname from pg_attribute where attrelid = 'app.orders'::regclass"
                    + " and attnum > 0 order by attnum"))
        .containsExactly("id", "created_at", "text");
    assertThat(shop.texts("select nspname from pg_namespace where nspname like 'coat%'")).isEmpty();
    assertThat(shop.texts("select what from app.audit")).isEmpty();
  }
}
