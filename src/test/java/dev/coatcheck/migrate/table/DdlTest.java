package dev.coatcheck.migrate.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.UnfencedSession;
import dev.coatcheck.postgres.sql.PlainSql;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Changes of a table that another session holds. */
class DdlTest {
  @RegisterExtension static final MigrationFixture fixture = MigrationFixture.beside();

  /** The processes that vacuum the table by themselves. */
  private static final String VACUUM =
      "a.pid) from pg_stat_activity a join pg_locks l using (pid)"
          + " where a.backend_type = 'autovacuum worker' and l.granted"
          + " and l.relation = 'orders'::regclass";

  private Target target;

  @BeforeEach
  void table() {
    fixture.clear();
    fixture.execute(
        "drop table if exists seen", "create table orders (id bigserial primary key, text text)");
    setDeadlockTimeout(40);
    target = fixture.target(Optional.empty());
  }

  /** For sessions from now on. */
  private void setDeadlockTimeout(int millis) {
    fixture.execute(
        "do $$ begin execute format('alter database %I set deadlock_timeout = "
            + millis
            + "', current_database()); end $$");
  }

  /** A partitioned child is dropped before its partitions' foreign keys are merged. */
  @Test
  void aForeignKeyOfATableThatIsGoneIsLeftOut() {
    fixture.apply(target, Phase.EXPAND);
    fixture.execute(
        "create table seen (order_id bigint)",
        "insert into coatcheck_migration.unbound_foreign_key (run, n, relation, name, definition)"
            + " values ('%s', 0, 'seen', 'fkey', 'foreign key (order_id) references orders')"
                .formatted(target.run()),
        "drop table seen");

    fixture.applyStep(target, Phase.PREPARE_SWITCH, "merge-foreign-keys");

    assertThat(fixture.count("select count(*) from coatcheck_migration.unbound_foreign_key"))
        .isZero();
  }

  @Test
  void aTableThatIsHeldForGoodIsLeftAsItWasAndItsHolderNamed() {
    Step.Ddl step = step(Step.DUAL_WRITE);
    List<Long> pauses = new ArrayList<>();
    try (SourceSession session = UnfencedSession.open(fixture.settings, target);
        TestSession held = fixture.sql().session()) {
      prepare(session);
      held.execute("set application_name = 'a long report'");
      held.begin("select count(*) from orders");

      Ddl ddl = new Ddl(session, target, pauses::add);
      StepOutcome outcome = ddl.apply(step);

      assertThat(outcome).isInstanceOf(StepOutcome.Failed.class);
      assertThat(((StepOutcome.Failed) outcome).reason())
          .startsWith("dual-write did not get its lock in 20 tries. Held by: ")
          .contains("idle in transaction", "a long report")
          .doesNotContain("; ");
      assertThat(pauses).hasSize(19).allMatch(millis -> millis <= 2_000);
      assertThat(ddl.isApplied(step)).isFalse();
      requireClean(session);

      held.commit();
      assertThat(ddl.apply(step)).isInstanceOf(StepOutcome.Done.class);
      assertThat(ddl.isApplied(step)).isTrue();
      requireClean(session);
    }
  }

  /** A dump only reads; writers keep it from its lock. */
  @Test
  void onlyWhoReallyHoldsAChangeUpIsNamed() {
    fixture.apply(target, Phase.EXPAND);
    try (SourceSession session = UnfencedSession.open(fixture.settings, target);
        TestSession dump = fixture.sql().session();
        TestSession writer = fixture.sql().session()) {
      dump.execute("set application_name = 'a dump'").begin("select count(*) from orders");
      writer.execute("set application_name = 'a writer'");
      writer.begin("insert into orders default values");
      Step.Archive step = (Step.Archive) anyStep("archive");

      StepOutcome outcome = new Ddl(session, target, _ -> {}).begin(step);

      assertThat(((StepOutcome.Failed) outcome).reason())
          .contains("a writer")
          .doesNotContain("a dump");
    }
  }

  @Test
  void whoHoldsAPartitionIsNamed() {
    Target whole = withNotes();
    Step.Ddl step =
        new Step.Ddl(
            Phase.CHILDREN,
            "change",
            List.of("lock table public.note in access exclusive mode"),
            List.of(),
            "select false");
    try (SourceSession session = UnfencedSession.open(fixture.settings, whole);
        TestSession held = fixture.sql().session()) {
      held.execute("set application_name = 'a writer'").begin("delete from note_1");

      StepOutcome outcome = new Ddl(session, whole, _ -> {}).apply(step);

      assertThat(((StepOutcome.Failed) outcome).reason()).contains("a writer");
    }
  }

  /** A statement that locks them itself waits for each of them as long as for one lock. */
  @Test
  void aPartitionedChildIsChangedOnceAllItsPartitionsAreLocked() {
    Target whole = withNotes();
    String note = "alter table " + whole.children().getFirst().table().quoted() + " ";
    List<String> changes = new ArrayList<>();
    for (Step step : Steps.of(whole)) {
      for (List<String> statements : List.of(step.statements(), step.undoStatements())) {
        boolean isLocked = false;
        for (String statement : statements) {
          isLocked |= statement.contains("lock table only %s in access exclusive mode");
          if (statement.startsWith(note) && !statement.startsWith(note + "validate")) {
            changes.add(step.name());
            assertThat(isLocked).as("%s: %s", step.name(), statement).isTrue();
          }
        }
      }
    }
    assertThat(changes).contains("child-not-null public.note.order_id");
  }

  @Test
  void theCheckOfAPartitionedChildIsOnEachPartitionUntilItIsUndone() {
    Target whole = withNotes();
    Step.NotNullCheck step =
        Steps.of(whole).stream()
            .filter(each -> each.phase() == Phase.CONTRACT)
            .filter(Step.NotNullCheck.class::isInstance)
            .map(Step.NotNullCheck.class::cast)
            .findFirst()
            .orElseThrow();
    try (SourceSession session = UnfencedSession.open(fixture.settings, whole)) {
      Ddl ddl = new Ddl(session, whole, _ -> {});

      assertThat(ddl.apply(step, Optional::empty)).isInstanceOf(StepOutcome.Done.class);
      assertThat(checksOfNotes()).containsExactly("note", "note_1");

      assertThat(ddl.undo(step)).isInstanceOf(StepOutcome.Done.class);
      assertThat(checksOfNotes()).isEmpty();
    }
  }

  private static List<String> checksOfNotes() {
    return fixture.texts(
        "select conrelid::regclass from pg_constraint where contype = 'c' and convalidated"
            + " and conrelid::regclass::text like 'note%' order by 1");
  }

  /** The target with a partitioned child, whose column is never null. */
  private Target withNotes() {
    fixture.execute(
        "drop table if exists note",
        "create table note (order_id bigint not null references orders, n int,"
            + " order_id_snowflake_id bigint) partition by list (n)",
        "create table note_1 partition of note for values in (1)");
    Child note =
        new Child(
            oid("note"),
            1,
            "public.note.order_id",
            new TableName("public", "note"),
            "order_id",
            "order_id_snowflake_id",
            "aas",
            List.of(new Child.Leaf(oid("note_1"), new TableName("public", "note_1"))));
    return new Target(
        target.run(),
        target.table(),
        target.oid(),
        target.keyColumn(),
        target.keyType(),
        target.createdAt(),
        target.anchors(),
        target.applicationPath(),
        List.of(note));
  }

  /** Another session under its name stands for it. */
  @Test
  @Tag("faults")
  void anAutovacuumIsWaitedForWithoutCountingTheTries() {
    Step.Ddl step = step(Step.DUAL_WRITE);
    fixture.execute(
        "alter table orders set (autovacuum_vacuum_threshold = 1,"
            + " autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_limit = 1,"
            + " autovacuum_vacuum_cost_delay = 100)",
        "insert into orders select from generate_series(1, 50000)",
        "delete from orders where id > 10");
    AtomicInteger pauses = new AtomicInteger();
    try (SourceSession session = UnfencedSession.open(fixture.settings, target)) {
      prepare(session);
      setNaptime("set autovacuum_naptime = '1 s'");
      Awaitility.await().until(() -> fixture.count("select count(" + VACUUM) == 1);
      Ddl ddl =
          new Ddl(
              session,
              target,
              _ -> {
                if (pauses.incrementAndGet() == 30) {
                  fixture.execute(
                      "select pg_terminate_backend(" + VACUUM,
                      "alter table orders set (autovacuum_enabled = false)");
                }
              });

      assertThat(ddl.apply(step)).isInstanceOf(StepOutcome.Done.class);
      assertThat(pauses).hasValue(30);
    } finally {
      setNaptime("reset autovacuum_naptime");
    }
  }

  @Test
  void aSessionThatCallsItselfAnAutovacuumIsNotWaitedFor() {
    Step.Ddl step = step(Step.DUAL_WRITE);
    List<Long> pauses = new ArrayList<>();
    try (SourceSession session = UnfencedSession.open(fixture.settings, target);
        TestSession held = fixture.sql().session()) {
      prepare(session);
      held.execute("set application_name = 'autovacuum worker'");
      held.begin("lock table orders in share update exclusive mode");

      assertThat(new Ddl(session, target, pauses::add).apply(step))
          .isInstanceOf(StepOutcome.Failed.class);
    }
  }

  /** For all databases of the server. */
  private static void setNaptime(String change) {
    fixture.execute("alter system " + change, "select pg_reload_conf()");
  }

  private static long oid(String table) {
    return fixture.count("select '" + table + "'::regclass::oid");
  }

  /**
   * Writers get through between any two tries, and none of them is ended as a deadlock's victim.
   */
  @Test
  void writersGoOnBetweenTheTries() {
    Step.Ddl step = step(Step.DUAL_WRITE);
    try (SourceSession session = UnfencedSession.open(fixture.settings, target);
        TestSession held = fixture.sql().session()) {
      prepare(session);
      held.begin("select count(*) from orders");
      List<Long> pauses = new ArrayList<>();
      Ddl ddl =
          new Ddl(
              session,
              target,
              millis -> {
                pauses.add(millis);
                fixture.execute("insert into orders default values");
                if (pauses.size() == 5) {
                  held.commit();
                }
              });

      assertThat(ddl.apply(step)).isInstanceOf(StepOutcome.Done.class);
      assertThat(pauses).hasSize(5);
      assertThat(fixture.count("select count(*) from orders where snowflake_id is null"))
          .isEqualTo(5);
    }
  }

  /** A writer whose wait began just after the first of the two is never a deadlock's victim. */
  @ParameterizedTest
  @CsvSource({"40, 16ms", "60000, 400ms"})
  void twoWaitsInARowEndBeforeTheServerLooksForADeadlock(int deadlockMillis, String wait) {
    setDeadlockTimeout(deadlockMillis);
    assertThat(setting("lock_timeout")).isEqualTo(wait);
  }

  /** It keeps writers from the table. */
  @Test
  void aChangeThatStandsStillIsEndedAfterASecond() {
    assertThat(setting("idle_in_transaction_session_timeout")).isEqualTo("1s");
  }

  /** As it is while a step is applied. */
  private String setting(String name) {
    Step.Ddl step =
        new Step.Ddl(
            Phase.EXPAND,
            "seen",
            List.of("create table public.seen as select current_setting('" + name + "') as value"),
            List.of(),
            "select false");
    try (SourceSession session = UnfencedSession.open(fixture.settings, target)) {
      assertThat(new Ddl(session, target, _ -> {}).apply(step))
          .isInstanceOf(StepOutcome.Done.class);
    }
    return fixture.texts("select value from seen").getFirst();
  }

  @Test
  void noIndexIsBuiltThatOnlyTheSwitchNeeds() {
    assertThat(Steps.of(target).stream().filter(step -> step.phase() == Phase.INDEX))
        .extracting(Step::name)
        .containsExactly("new-perm");
  }

  private void prepare(SourceSession session) {
    Ddl ddl = new Ddl(session, target, _ -> {});
    assertThat(ddl.apply(step(Step.PREPARE))).isInstanceOf(StepOutcome.Done.class);
  }

  private Step.Ddl step(String name) {
    return (Step.Ddl) anyStep(name);
  }

  private Step anyStep(String name) {
    return Steps.of(target).stream()
        .filter(step -> step.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static void requireClean(SourceSession session) {
    List<String> limits =
        session
            .session()
            .transaction(
                "test",
                sql ->
                    PlainSql.rows(
                        sql,
                        "select current_setting(name) from unnest(array['lock_timeout',"
                            + " 'statement_timeout', 'row_security']) name",
                        row -> row.getString(1)));
    assertThat(limits).containsExactly("0", "50s", "on");
  }
}
