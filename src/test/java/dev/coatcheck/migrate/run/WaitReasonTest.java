package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.session.LockWait;
import dev.coatcheck.postgres.session.LockWait.BlockingSession;
import dev.coatcheck.postgres.session.WatchTimeouts;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Others keep a run from going on, and its status says who. */
class WaitReasonTest {
  private static final WatchTimeouts SHORT = new WatchTimeouts(200, 1_000, 2_000, 1_000);

  @RegisterExtension
  final MigrationFixture fixture = MigrationFixture.on(TestDatabase.empty(), SHORT);

  @Test
  void anIndexThatWaitsForAnOldSnapshotNamesTheSessionThatHoldsIt() {
    try (TestSession report = fixture.sql().session()) {
      fixture.orders(100);
      fixture.execute("create table elsewhere (n int)");
      report.execute("set application_name = 'a long report'");
      int pid = report.pid();
      report.beginSnapshot();
      TableMigration run = fixture.startWith(UnaryOperator.identity());
      fixture.await(() -> fixture.now(run).status().waitsFor().isPresent());

      TableMigration.Status status = fixture.now(run).status();
      LockWait wait = status.waitsFor().orElseThrow();

      assertThat(wait.operation()).isEqualTo("new-perm");
      assertThat(wait.event()).isEqualTo("waiting for old snapshots");
      assertThat(wait.sessions()).extracting(BlockingSession::pid).containsExactly(pid);
      BlockingSession blocker = wait.sessions().getFirst();
      assertThat(blocker.user()).isEqualTo(fixture.settings.user());
      assertThat(blocker.application()).isEqualTo("a long report");
      assertThat(blocker.state()).isEqualTo("idle in transaction");
      assertThat(blocker.since()).isNotNull();
      assertThat(status.state()).isEqualTo(RunState.RUNNING);
      assertThat(status.reason().orElseThrow())
          .contains("waiting for old snapshots", "process " + pid, "a long report");

      fixture.execute(
          "select pg_cancel_backend(pid) from pg_stat_activity"
              + " where datname = current_database() and application_name like 'coatcheck run %'");
      fixture.await(() -> fixture.saw(run, "waiting", ", trying again: "));
      assertThat(fixture.saw(run, "waiting", "a statement took too long or was cancelled, "))
          .isTrue();
      report.commit();
      TableMigration done = fixture.await(run, RunState.DONE);
      assertThat(done.status().waitsFor()).isEmpty();
      assertThat(done.status().reason()).isEmpty();
    }
  }

  /** Which no later try changes, so that nobody is told to send the start again. */
  @Test
  void aUserWhoseTransactionsOnlyReadSinceThePlanIsRefusedAtTheStart() {
    fixture.orders(100);
    TableMigration run = fixture.plan();
    onlyRead("set default_transaction_read_only = on");
    try {
      assertThat(fixture.refused(run))
          .extracting(Diagnostic::code)
          .containsExactly("read_only_user");
    } finally {
      onlyRead("reset default_transaction_read_only");
    }
  }

  @Test
  @Tag("faults")
  void aRunWhoseUserMayOnlyReadSaysSoAndGoesOnByItself() {
    fixture.orders(100);
    TableMigration run = fixture.startInTheMiddle(20);
    onlyRead("set default_transaction_read_only = on");
    try {
      fixture.execute(
          "select pg_terminate_backend(pid) from pg_stat_activity"
              + " where datname = current_database() and application_name like 'coatcheck%'");
      fixture.awaitReason(run, "the source lets its user only read, trying again: ");
      fixture.rate(run, 0);
      assertThat(fixture.now(run).status().state()).isEqualTo(RunState.RUNNING);
    } finally {
      onlyRead("reset default_transaction_read_only");
    }
    fixture.await(run, RunState.DONE);
  }

  /** For the sessions that come. */
  private void onlyRead(String setting) {
    fixture.execute(
        "set default_transaction_read_only = off",
        "do $$ begin execute format('alter database %%I %s', current_database()); end $$"
            .formatted(setting));
  }

  @Test
  void aPreparedTransactionIsNamedAndNoSessionOfOurOwn() {
    fixture.orders(100);
    TableMigration run = fixture.startInTheMiddle(20);
    prepare();
    try {
      fixture.rate(run, 0);
      requireNamed(run);
    } finally {
      fixture.execute("rollback prepared 'lost ''one'");
    }
    fixture.await(run, RunState.DONE);

    prepare();
    try {
      fixture.beginUndo(run, Phase.NOT_NULL);
      requireNamed(run);
    } finally {
      fixture.execute("rollback prepared 'lost ''one'");
    }
    fixture.await(run, RunState.PAUSED);
  }

  private void prepare() {
    fixture.execute(
        "begin", "insert into orders default values", "prepare transaction 'lost ''one'");
  }

  private void requireNamed(TableMigration run) {
    fixture.await(() -> fixture.now(run).status().waitsFor().isPresent());
    LockWait wait = fixture.now(run).status().waitsFor().orElseThrow();
    assertThat(wait.sessions())
        .extracting(BlockingSession::pid, BlockingSession::application)
        .containsExactly(tuple(0, "prepared transaction 'lost ''one'"));
    assertThat(wait.text())
        .contains(
            "held up by the prepared transaction 'lost ''one' (user %s), prepared since "
                .formatted(fixture.settings.user()));
  }

  /**
   * Of two builds on one table that wait for each other the server would end one: a build that
   * still waits for writers will wait for every snapshot that is there when it has built.
   */
  @ParameterizedTest
  @Tag("faults")
  @ValueSource(strings = {"waiting for writers before build", "waiting for old snapshots"})
  void anIndexOfTheDbaIsBuiltFirstAndNeitherIsEnded(String phase) throws Exception {
    try (TestSession other = fixture.sql().session()) {
      fixture.orders(100);
      TableMigration run = fixture.startInTheMiddle(20);
      if (phase.contains("writers")) {
        other.begin("insert into orders default values");
      } else {
        other.beginSnapshot();
      }
      CompletableFuture<Void> dba =
          CompletableFuture.runAsync(
              () ->
                  fixture.execute(
                      "set application_name = 'dba'",
                      "create index concurrently dba_index on orders (created_at)"),
              Thread::startVirtualThread);
      fixture.await(() -> isBuilding(phase));
      fixture.rate(run, 0);
      fixture.await(() -> fixture.now(run).status().waitsFor().isPresent());

      LockWait wait = fixture.now(run).status().waitsFor().orElseThrow();

      assertThat(wait.operation()).isEqualTo("new-perm");
      assertThat(wait.sessions()).extracting(BlockingSession::application).containsExactly("dba");
      other.commit();
      dba.get();
      fixture.await(run, RunState.DONE);
      assertThat(fixture.saw(run, "waiting", "")).isFalse();
      assertThat(
              fixture.column(
                  "select indexrelid::oid from pg_index"
                      + " where indrelid = 'orders'::regclass and not indisvalid"))
          .isEmpty();
    }
  }

  /** It moves every row, and nobody else gets at the table meanwhile. */
  @Test
  @Tag("faults")
  void aVacuumFullInTheMiddleChangesNothing() {
    fixture.orders(2_000);
    TableMigration run = fixture.startInTheMiddle(400);

    fixture.execute("vacuum full orders");
    long before = fixture.now(run).progress().rowsDone();
    fixture.await(() -> fixture.now(run).progress().rowsDone() > before);
    fixture.execute("vacuum full orders");
    fixture.rate(run, 0);

    fixture.await(run, RunState.DONE);
    fixture.requireOrderedKeys();
    assertThat(fixture.now(run).progress().rowsDone()).isEqualTo(2_000);
  }

  private boolean isBuilding(String phase) {
    return fixture.count(
            "select count(*) from pg_stat_progress_create_index"
                + " where datname = current_database() and phase = '%s'".formatted(phase))
        == 1;
  }
}
