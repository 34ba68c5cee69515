package dev.coatcheck.migrate.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.bulk.load.LegacyKeyWriter;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.migrate.source.UnfencedSession;
import dev.coatcheck.migrate.table.Outbox;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.migrate.table.TableWriters;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** A table is migrated once for each placement; then it is broken and mended in every way. */
class VerifierTest {
  private static final int RANGE_ROWS = 300;
  static final int ROWS = 1_050;

  /** The first row of the third range, so that what is carried over is needed. */
  static final int BORDER = 2 * RANGE_ROWS + 1;

  @TestFactory
  Stream<DynamicContainer> theReportNamesWhatIsWrongAndNothingElse() {
    return Stream.of(true, false)
        .map(
            beside ->
                DynamicContainer.dynamicContainer(
                    beside ? "beside the mappings" : "in another database", tests(beside)));
  }

  private static Stream<DynamicTest> tests(boolean beside) {
    Migrated[] table = new Migrated[1];
    DynamicTest first =
        DynamicTest.dynamicTest(
            "nothing is reported while the table is written to",
            () -> {
              table[0] = new Migrated(MigrationFixture.of(beside));
              table[0].migrateWhileWritten();
            });
    Stream<DynamicTest> broken =
        Corruption.ALL.stream()
            .map(
                corruption ->
                    DynamicTest.dynamicTest(
                        corruption.text(), () -> table[0].requireNamed(corruption)));
    Stream<DynamicTest> sound =
        Stream.of(
            DynamicTest.dynamicTest(
                "a row that another session is bringing is waited for",
                () -> table[0].requireWaitsForFollower()),
            DynamicTest.dynamicTest(
                "it stops when it is told to", () -> table[0].requireStopsAfterOneRange()),
            DynamicTest.dynamicTest(
                "rows that a policy hides are no clean table",
                () -> table[0].requireRaisesForHiddenRows()));
    DynamicTest last =
        DynamicTest.dynamicTest(
            "nothing is reported of the mended table",
            () -> {
              Report report = table[0].verify();
              assertThat(broken(report)).isEmpty();
              assertThat(report.rows())
                  .as("up to the last row")
                  .isEqualTo(table[0].fixture.count("select count(*) from orders"));
              table[0].fixture.close();
            });
    return Stream.of(Stream.of(first), broken, sound, Stream.of(last)).flatMap(tests -> tests);
  }

  private static List<Report.Check> broken(Report report) {
    List<Report.Check> broken =
        report.checks().stream().filter(check -> check.count() > 0).toList();
    assertThat(report.clean()).isEqualTo(broken.isEmpty());
    return broken;
  }

  /** A table in the middle of its migration, all of whose rows have keys. */
  private static final class Migrated {
    private final MigrationFixture fixture;
    private final Target target;
    private final TargetSql names;

    private Migrated(MigrationFixture fixture) {
      this.fixture = fixture;
      fixture.execute(
          "create table orders (id bigserial primary key, created_at timestamptz, text text)",
          "insert into orders (created_at, text) select case when n % 10 > 1 then now() -"
              + " make_interval(secs => 20000 - n) end, 'x' from generate_series(1, "
              + ROWS
              + ") n");
      target = fixture.target(MigrationFixture.createdAt());
      names = new TargetSql(target);
    }

    void migrateWhileWritten() throws Exception {
      long seed = ThreadLocalRandom.current().nextLong();
      System.out.println("seed " + seed);
      fixture.apply(target, Phase.EXPAND);
      fixture.execute("insert into orders (text) values ('new')");
      AtomicBoolean stopped = new AtomicBoolean();
      CompletableFuture<Void> follower =
          CompletableFuture.runAsync(() -> follow(stopped), Thread::startVirtualThread);
      List<Report> reports = new ArrayList<>();
      long writes;
      try (TableWriters writers = new TableWriters(fixture, RANGE_ROWS * 2 + 150, ROWS, seed)) {
        fixture.apply(target, Phase.BACKFILL, Phase.INDEX);
        fixture.execute(
            "delete from orders where id between 21 and 30",
            "insert into orders (id, text) select n, 'back' from generate_series(21, 30) n");
        long before = writers.writes();
        for (int i = 0; i < 4; i++) {
          reports.add(verify());
        }
        writes = writers.writes() - before;
      } finally {
        stopped.set(true);
        follower.join();
      }
      assertThat(writes).as("written meanwhile").isGreaterThan(10);
      assertThat(reports).allSatisfy(report -> assertThat(broken(report)).isEmpty());
      assertThat(reports)
          .allSatisfy(report -> assertThat(report.rows()).isGreaterThan(ROWS - RANGE_ROWS));
      copy();
    }

    /** The follower of the run, beside the verifier's own. */
    private void follow(AtomicBoolean stopped) {
      Outbox outbox = fixture.outbox(target);
      while (!stopped.get()) {
        outbox.drain();
        LockSupport.parkNanos(1_000_000);
      }
    }

    private void copy() {
      fixture.drain(target);
      fixture.execute(
          "create table orders_copy as select id, snowflake_id, created_at from orders",
          names.fill("create table archive_copy as table <archive>"));
      gateway("create table alias_copy as table coatcheck.alias");
      gateway("create table public_id_copy as table coatcheck.public_id");
    }

    Report verify() {
      return verify(fixture.settings);
    }

    Report verify(DatabaseSettings source) {
      try (SourceSession session = UnfencedSession.open(source, target)) {
        return verifier(session).run(() -> true).orElseThrow();
      }
    }

    Verifier verifier(SourceSession session) {
      return new Verifier(
          session,
          new PublishedStore(fixture.gateway.database, fixture.type),
          target,
          fixture.outbox(target),
          RANGE_ROWS);
    }

    void requireNamed(Corruption corruption) {
      try {
        source(corruption.source());
        corruption.gateway().forEach(this::gateway);

        List<Report.Check> broken = broken(verify());

        assertThat(broken).extracting(Report.Check::code).containsExactly(corruption.code());
        Report.Check found = broken.getFirst();
        assertThat(found.count()).isEqualTo(corruption.named().size());
        assertThat(found.samples()).hasSameSizeAs(corruption.named());
        for (int i = 0; i < found.samples().size(); i++) {
          assertThat(found.samples().get(i)).startsWith(name(corruption.named().get(i)));
        }
      } finally {
        mend(corruption);
      }
    }

    /** An ID, or the name of one of our objects by its kind. */
    private String name(String sample) {
      return sample.matches("[a-z_]+") ? target.objects().derived(sample) : sample;
    }

    private void mend(Corruption corruption) {
      source(
          List.of(
              "update orders o set snowflake_id = -c.snowflake_id from orders_copy c"
                  + " where o.id = c.id and o.snowflake_id is distinct from c.snowflake_id",
              "update orders set snowflake_id = -snowflake_id where snowflake_id < 0",
              "update orders o set created_at = c.created_at from orders_copy c"
                  + " where o.id = c.id and o.created_at is distinct from c.created_at",
              "update <archive> a set key = c.key from archive_copy c"
                  + " where a.legacy = c.legacy and a.key <> c.key"));
      source(corruption.mend());
      gateway("truncate coatcheck.alias, coatcheck.public_id");
      gateway("insert into coatcheck.alias select * from alias_copy");
      gateway("insert into coatcheck.public_id select * from public_id_copy");
    }

    void requireWaitsForFollower() {
      long id = fixture.count("insert into orders (text) values ('under way') returning id");
      try (TestSession follower = fixture.sql().session()) {
        follower.begin(names.fill("delete from <outbox_a> where legacy = " + id));
        CompletableFuture<Report> verified =
            CompletableFuture.supplyAsync(this::verify, Thread::startVirtualThread);
        await().until(() -> verified.isDone() || verifierWaits());
        long key = fixture.count("select snowflake_id from orders where id = " + id);
        fixture.gateway.database.write(
            "test",
            sql ->
                fixture.mappings.insert(
                    sql, List.of(new LegacyKeyWriter.LegacyKey(id, key)), false));
        follower.commit();
        assertThat(broken(verified.join())).isEmpty();
      }
    }

    private boolean verifierWaits() {
      return fixture.count(
              "select count(*) from pg_stat_activity where application_name = 'coatcheck run "
                  + target.run()
                  + "' and wait_event_type = 'Lock'")
          > 0;
    }

    void requireStopsAfterOneRange() {
      AtomicInteger asked = new AtomicInteger();
      try (SourceSession session = UnfencedSession.open(fixture.settings, target)) {
        assertThat(verifier(session).run(() -> asked.getAndIncrement() == 0)).isEmpty();
      }
      assertThat(asked).as("before each of two ranges").hasValue(2);
    }

    void requireRaisesForHiddenRows() {
      String role = "reader_" + Long.toUnsignedString(ThreadLocalRandom.current().nextLong(), 36);
      fixture.execute(
          "create role " + role + " login password 'reader'",
          "grant usage on schema public, coatcheck_migration to " + role,
          "grant all on all tables in schema public, coatcheck_migration to " + role,
          "alter table orders enable row level security");
      DatabaseSettings settings = new DatabaseSettings(fixture.settings.url(), role, "reader", 1);
      try {
        assertThatThrownBy(() -> verify(settings))
            .rootCause()
            .hasMessageContaining("would be affected by row-level security policy");
      } finally {
        fixture.execute(
            "alter table orders disable row level security",
            "drop owned by " + role,
            "drop role " + role);
      }
    }

    /** A statement with {@code !} before it has to fail. */
    private void source(List<String> statements) {
      try (TestSession session = fixture.sql().session()) {
        session.execute("set coatcheck.fill = '" + target.run() + "'");
        for (String text : statements) {
          boolean isRefused = false;
          try {
            session.execute(names.fill(text.replaceFirst("^!", "")));
          } catch (AssertionError refused) {
            isRefused = true;
            if (!text.startsWith("!")) {
              throw refused;
            }
          }
          assertThat(isRefused).isEqualTo(text.startsWith("!"));
        }
      }
    }

    private void gateway(String statement) {
      fixture.gateway.database.write(
          "test",
          sql -> sql.execute(statement.replace("<type>", Integer.toString(fixture.type.number()))));
    }
  }
}
