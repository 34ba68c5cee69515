package dev.coatcheck.migrate.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.Breakage;
import dev.coatcheck.BrokenBy;
import dev.coatcheck.bulk.load.LegacyKeyWriter;
import dev.coatcheck.migrate.plan.TableSurvey;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.TableSpec;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.session.WatchTimeouts;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What writers of a table meet while it migrates; a legacy ID never gets a second key. */
class DualWriteTest {
  private static final String NOT_SERIALIZABLE = "40001";
  private static final String WRITER = "writer_" + Long.toHexString(System.nanoTime());

  @RegisterExtension static final MigrationFixture fixture = MigrationFixture.apart();
  private Target target;
  private TargetSql names;

  @BeforeEach
  void migrate() {
    fixture.clear();
    fixture.execute(
        "create table orders (id bigserial primary key, text text)",
        "insert into orders (text) select 'old' from generate_series(1, 10)");
    target = fixture.target(Optional.empty());
    names = new TargetSql(target);
    fixture.apply(target, Phase.EXPAND, Phase.BACKFILL);
    if (!Breakage.current().isEmpty()) {
      fixture.execute(
          names.fill("alter table <table> enable trigger <" + Breakage.current() + ">"));
    }
  }

  /**
   * A writer that calls itself a replica, as tools that copy rows do, switches the usual triggers
   * of a table off, but none of ours. Each defect is one trigger that fires for other writers only.
   */
  @Test
  @BrokenBy({"t_insert", "t_inserted", "t_reused", "t_delete", "t_update", "t_rekey", "t_truncate"})
  void rowsOfAReplicaAreTreatedLikeThoseOfOthers() {
    if (!Breakage.current().isEmpty()) {
      migrate();
    }
    try (TestSession replica = fixture.sql().session();
        TestSession other = fixture.sql().session()) {
      long third = key(3);
      List<Long> before = keys();
      replica.execute("set session_replication_role = replica");

      for (String refused : List.of("update orders set id = id + 1000", "truncate orders")) {
        assertThatThrownBy(() -> replica.execute(refused))
            .hasStackTraceContaining("of the key is refused while the table migrates");
      }
      replica.execute("update orders set snowflake_id = 5");
      assertThat(keys()).isEqualTo(before);

      replica.execute("insert into orders (text) values ('new')");
      assertThat(fixture.column("select id from orders where snowflake_id is null")).isEmpty();
      assertThat(fixture.column(names.fill("select legacy from <outbox_a>"))).contains(11L);

      replica.execute("delete from orders where id = 4");
      assertThat(fixture.column(names.fill("select legacy from <archive>"))).contains(4L);

      // The key of the deleted row is archived only when the new row has another key already.
      other.begin("delete from orders where id = 3");
      CompletableFuture<Void> inserted =
          CompletableFuture.runAsync(
              () -> replica.execute("insert into orders (id, text) values (3, 'back')"),
              Thread::startVirtualThread);
      await().until(this::aSessionWaits);
      other.commit();
      inserted.join();
      assertThat(key(3)).isEqualTo(third);
    }
  }

  @TestFactory
  Stream<DynamicTest> eachOfTheTriggersIsNeeded() {
    return Breakage.requireRed(this);
  }

  @Test
  void theApplicationCannotChangeAKey() {
    List<Long> before = keys();

    fixture.execute(
        "update orders set snowflake_id = 5",
        "insert into orders (id, text, snowflake_id) values (1, 'new', 5)"
            + " on conflict (id) do update"
            + " set text = excluded.text, snowflake_id = excluded.snowflake_id",
        "insert into orders (id, text, snowflake_id) values (2, 'new', 5)"
            + " on conflict (id) do update set snowflake_id = null");

    assertThat(keys()).isEqualTo(before);
    assertThat(fixture.count("select count(*) from orders where text = 'new'")).isEqualTo(1);
    fixture.execute("insert into orders (text, snowflake_id) values ('mine', 5)");
    assertThat(keys()).doesNotContain(5L).doesNotHaveDuplicates();
  }

  @Test
  void anUpsertWritesOneEntryForARowThatCameAndNoneForOneThatWasThere() {
    fixture.execute(names.fill("delete from <outbox_a>"));

    fixture.execute(
        "insert into orders (id, text) values (1, 'was there'), (1001, 'came')"
            + " on conflict (id) do update set text = excluded.text");

    assertThat(fixture.column(names.fill("select legacy from <outbox_a>"))).containsExactly(1001L);
  }

  @Test
  void anIdThatComesBackGetsItsOldKey() {
    long old = key(3);
    fixture.execute("delete from orders where id = 3");
    assertThat(fixture.count("insert into orders (id) values (3) returning snowflake_id"))
        .isEqualTo(old);
    long made = fixture.count("insert into orders (text) values ('x') returning snowflake_id");
    assertThat(
            fixture.count(
                "with gone as (delete from orders where snowflake_id = "
                    + made
                    + " returning id) select id from gone"))
        .isEqualTo(11);

    fixture.execute("insert into orders (id) values (11)");

    assertThat(key(11)).isEqualTo(made);
  }

  @Test
  void aNumberThatIsNoLegacyIdIsNamedAndHoldsUpNothing() {
    fixture.drain(target);
    fixture.execute(
        "insert into orders (id, text) values (0, 'zero'), (-1, 'below'), (500, 'fine')");

    Outbox.Drained drained = fixture.outbox(target).drain();

    assertThat(drained.entries()).isEqualTo(3);
    assertThat(drained.refused())
        .extracting(LegacyKeyWriter.LegacyKey::legacy)
        .containsExactlyInAnyOrder(0L, -1L);
    assertThat(fixture.outbox(target).lag().entries()).isZero();
  }

  @Test
  void whatIsReturnedIsWhatIsStored() {
    List<String> returned =
        fixture.texts(
            "insert into orders (text) select 'x' from generate_series(1, 5)"
                + " returning id || '/' || snowflake_id");

    assertThat(returned)
        .hasSize(5)
        .isEqualTo(
            fixture.texts(
                "select id || '/' || snowflake_id from orders where text = 'x' order by id"));
  }

  @Test
  void anApplicationNeedsNoRightsBeyondItsTableAndGetsNone() {
    String role = "app_" + Long.toUnsignedString(ThreadLocalRandom.current().nextLong(), 36);
    fixture.execute(
        "create role " + role + " login password 'app'",
        "grant usage on schema public to " + role,
        "grant select, insert, update, delete on orders to " + role,
        "grant usage on sequence orders_id_seq to " + role);
    try (TestSession app = fixture.sql().as(role, "app").session()) {
      for (String allowed :
          List.of(
              "insert into orders (text) values ('app')",
              "insert into orders (id, text) values (1, 'up') on conflict (id) do update set text ="
                  + " 'up'",
              "update orders set text = 'app', snowflake_id = 7 where id = 2",
              "delete from orders where id = 4",
              "insert into orders (id, text) values (4, 'back')")) {
        app.execute(allowed);
      }
      for (String forbidden :
          List.of(
              "select <mint>()",
              "select * from <archive>",
              "insert into <outbox_a> (legacy, key) values (1, 1)",
              "select nextval('<mint_seq>')",
              "select * from <schema>.checkpoint")) {
        assertThatThrownBy(() -> app.execute(names.fill(forbidden)))
            .hasMessageContaining("permission denied for schema coatcheck_migration");
      }
    } finally {
      fixture.execute("drop owned by " + role, "drop role " + role);
    }
    fixture.execute("grant usage on schema coatcheck_migration to public", "create role " + role);
    try (TestSession app = fixture.sql().session()) {
      app.execute("set role " + role);
      assertThatThrownBy(() -> app.execute(names.fill("select <mint>()")))
          .hasMessageContaining("permission denied for function");
    } finally {
      fixture.execute("drop role " + role);
    }
    assertThat(fixture.count("select count(*) from orders where snowflake_id is null")).isZero();
  }

  @Test
  void anotherRunIsRefused() {
    Source source =
        new Source("shop", fixture.settings, fixture.source, false, WatchTimeouts.DEFAULT);

    assertThat(
            new TableSurvey(System::nanoTime)
                .inspect(source, new TableSpec("public", "orders", Optional.empty(), false)))
        .isInstanceOfSatisfying(
            TableSurvey.Outcome.Refused.class,
            refused ->
                assertThat(refused.diagnostics())
                    .extracting(Diagnostic::code)
                    .containsExactly("column_taken", "triggers_left", "run_active"));
  }

  /** The insert waits for the delete, whose archived key its snapshot can't see. */
  @ParameterizedTest
  @ValueSource(strings = {"read committed", "repeatable read", "serializable"})
  void aRowThatComesBackGetsItsKeyBack(String isolation) throws Exception {
    long key = key(5);
    try (TestSession leaving = fixture.sql().session();
        TestSession coming = fixture.sql().session()) {
      coming.begin("set transaction isolation level " + isolation, "select 1 from orders");
      leaving.begin("delete from orders where id = 5");
      CompletableFuture<Boolean> inserted =
          CompletableFuture.supplyAsync(() -> inserts(coming), Thread::startVirtualThread);
      await().until(this::aSessionWaits);
      leaving.commit();

      boolean isThere = inserted.get();
      assertThat(isThere || !isolation.equals("read committed")).isTrue();
    }
    fixture.execute("insert into orders (id) values (5) on conflict do nothing");
    assertThat(key(5)).isEqualTo(key);
    fixture.drain(target);
    assertThat(fixture.drain(target)).isZero();
  }

  /** It may take minutes, so it comes before the lock that writers would wait for. */
  @Test
  void aSecondRunReadsTheArchiveBeforeItLocksTheTable() {
    fixture.drain(target);
    fixture.undo(target, Phase.EXPAND);
    Target again = fixture.target(Optional.empty());
    fixture.applyStep(again, Phase.EXPAND, Step.PREPARE);
    try (TestSession reader = fixture.sql().session()) {
      reader.begin(names.fill("lock table <archive> in access exclusive mode"));
      CompletableFuture<Void> second =
          CompletableFuture.runAsync(
              () -> fixture.apply(again, Phase.EXPAND), Thread::startVirtualThread);
      await().until(this::aSessionWaits);
      assertThat(
              fixture.count(
                  "select count(*) from pg_locks where relation = 'orders'::regclass"
                      + " and mode = 'AccessExclusiveLock'"))
          .isZero();
      reader.commit();
      second.join();
    }
    fixture.apply(again, Phase.BACKFILL);
    fixture.requireOrderedKeys();
  }

  /** Committed after the archive has passed its ID. */
  @Test
  void aRowUnderWayDuringAnUndoKeepsItsKey() throws Exception {
    try (TestSession late = fixture.sql().session()) {
      late.begin("insert into orders (id) values (100)");
      long key = late.number("select snowflake_id from orders where id = 100");
      fixture.execute("insert into orders (id) values (200)");
      CompletableFuture<Void> undone =
          CompletableFuture.runAsync(
              () -> {
                fixture.drain(target);
                fixture.undo(target, Phase.EXPAND);
              },
              Thread::startVirtualThread);
      await().until(this::aSessionWaits);
      late.commit();
      await()
          .until(
              () -> {
                fixture.drain(target);
                return undone.isDone();
              });
      undone.get();

      Target again = fixture.target(Optional.empty());
      fixture.apply(again, Phase.EXPAND, Phase.BACKFILL);
      assertThat(key(100)).isEqualTo(key);
    }
  }

  private static boolean inserts(TestSession session) {
    try {
      session.execute("insert into orders (id) values (5)", "commit");
      return true;
    } catch (AssertionError refused) {
      if (NOT_SERIALIZABLE.equals(TestSession.sqlState(refused))) {
        return false;
      }
      throw refused;
    }
  }

  private boolean aSessionWaits() {
    return fixture.count(
            "select count(*) from pg_locks l join pg_stat_activity a using (pid)"
                + " where not l.granted and a.datname = current_database()")
        > 0;
  }

  /**
   * The table's own trigger names its log without a schema. Where a freed legacy ID gets its old
   * key back, that trigger runs as the owner, and a temporary table would be found before the log.
   */
  @Test
  void aTemporaryTableOfAWriterIsNotTakenForTheLogOfTheOwner() throws Exception {
    fixture.execute(
        "create table log (id bigint)",
        """
        create function log_it() returns trigger language plpgsql
          as 'begin insert into log values (new.id); return null; end'
        """,
        "create trigger log_it after update on orders for each row execute function log_it()",
        "create role " + WRITER,
        "grant usage on schema public to " + WRITER,
        "grant select, insert, delete on orders to " + WRITER);
    try (TestSession deleting = fixture.sql().session();
        TestSession inserting = fixture.sql().session()) {
      inserting.execute(
          "set role " + WRITER,
          "create temp table mark (who text)",
          "create temp table log (id bigint)",
          """
          create function pg_temp.spring() returns trigger language plpgsql
            as 'begin insert into pg_temp.mark values (current_user); return null; end'
          """,
          "create trigger spring after insert on pg_temp.log"
              + " for each row execute function pg_temp.spring()",
          "grant all on pg_temp.log, pg_temp.mark to public");
      deleting.execute("set role " + WRITER).begin("delete from orders where id = 7");
      CompletableFuture<Void> inserted =
          CompletableFuture.runAsync(
              () -> inserting.execute("insert into orders (id) values (7)"),
              Thread::startVirtualThread);
      await().until(this::aSessionWaits);
      deleting.commit();
      inserted.join();

      assertThat(fixture.column("select id from log")).as("the key came back").containsOnly(7L);
      assertThat(inserting.texts("select who from pg_temp.mark"))
          .as("ran as another user")
          .isEmpty();
    } finally {
      fixture.execute("drop owned by " + WRITER, "drop role " + WRITER);
    }
  }

  private List<Long> keys() {
    return fixture.column("select snowflake_id from orders order by id");
  }

  private long key(long id) {
    return fixture.count("select snowflake_id from orders where id = " + id);
  }
}
