package dev.coatcheck.migrate.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.source.FenceLost;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.UnfencedSession;
import dev.coatcheck.postgres.session.WatchTimeouts;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every row gets its key. A runner that was given up for dead writes nothing any more, and a writer
 * that locks rows against the order of the backfill is never a deadlock's victim.
 */
class BackfillTest {
  private static final int ROUNDS = 3;
  private static final int MILLIS_MAX = 20_000;

  @RegisterExtension static final MigrationFixture fixture = MigrationFixture.beside();
  private final AtomicInteger gaveWay = new AtomicInteger();

  @BeforeEach
  void clear() {
    fixture.clear();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void everyRowGetsAKeyInOrderAndItsMapping(boolean isBeside) {
    if (isBeside) {
      requireKeysAndMappings(fixture);
    } else {
      try (MigrationFixture apart = MigrationFixture.apart()) {
        requireKeysAndMappings(apart);
      }
    }
  }

  private static void requireKeysAndMappings(MigrationFixture fixture) {
    fixture.execute(
        "create table orders (id bigserial primary key, created_at timestamptz, text text)",
        "insert into orders (created_at, text) select now() - make_interval(secs => 20000 - n), 'x'"
            + " from generate_series(1, 3000) n");
    Target target = fixture.target(MigrationFixture.createdAt());

    fixture.apply(target, Phase.EXPAND);
    fixture.execute("insert into orders (created_at, text) values (now(), 'new')");
    fixture.apply(target, Phase.BACKFILL, Phase.INDEX, Phase.NOT_NULL);
    fixture.drain(target);

    assertThat(fixture.count("select count(*) from orders where snowflake_id is null")).isZero();
    assertThat(
            fixture.count(
                "select count(*) from (select snowflake_id <= lag(snowflake_id) over (order by id)"
                    + " as wrong from orders) as o where wrong"))
        .isZero();
    assertThat(mapped(fixture)).isEqualTo(3_001);
    List<Long> keys = fixture.column("select snowflake_id from orders order by id");

    fixture.undo(target, Phase.NOT_NULL, Phase.INDEX, Phase.BACKFILL, Phase.EXPAND);
    assertThat(fixture.count("select count(*) from pg_trigger where tgname like '~coatcheck%'"))
        .isZero();
    Target again = fixture.target(MigrationFixture.createdAt());
    fixture.apply(again, EnumSet.range(Phase.EXPAND, Phase.SWITCH).toArray(Phase[]::new));
    fixture.drain(again);

    assertThat(fixture.column("select snowflake_id from orders order by id")).isEqualTo(keys);
    assertThat(mapped(fixture)).isEqualTo(3_001);
  }

  /** Look-ups fill rows until the column is gone, also those that the archive has passed. */
  @Test
  void aRowThatALookUpFillsDuringAnUndoHasTheSameKeyInTheNextRun() {
    fixture.orders(10);
    Target target = fixture.target(MigrationFixture.createdAt());
    fixture.apply(target, Phase.EXPAND);
    fixture.undoStep(target, Phase.EXPAND, "archive");

    long key = new FillOnDemandTable(fixture.source, target).find(5).orElseThrow();
    fixture.undoStep(target, Phase.EXPAND, Step.DUAL_WRITE);

    fixture.drain(target);
    fixture.undoStep(target, Phase.EXPAND, Step.PREPARE);
    fixture.apply(fixture.target(MigrationFixture.createdAt()), Phase.EXPAND, Phase.BACKFILL);
    assertThat(fixture.keys("orders", "id")).hasSize(10).containsEntry(5L, key);
  }

  /** The look-up would read all rows in between, on the customer's server. */
  @Test
  void aRowFarAheadOfTheBackfillIsFoundOnceTheBackfillIsNear() {
    fixture.orders(60_000);
    Target target = fixture.target(MigrationFixture.createdAt());
    fixture.apply(target, Phase.EXPAND);
    FillOnDemandTable lookUp = new FillOnDemandTable(fixture.source, target);

    assertThatThrownBy(() -> lookUp.find(60_000))
        .isInstanceOf(DatabaseUnavailable.class)
        .hasMessageContaining("far ahead of the backfill");
    assertThat(fixture.column("select id from orders where snowflake_id is not null")).isEmpty();

    fixture.execute("delete from orders where id between 1 and 59000");
    assertThat(lookUp.find(60_000)).isPresent();
  }

  private static long mapped(MigrationFixture fixture) {
    return fixture.gateway.database.read(
        "test",
        sql ->
            sql.fetchOne(
                    "select count(*) from coatcheck.alias join coatcheck.public_id using (token)")
                .get(0, Long.class));
  }

  @Test
  void anEarlierRunnerWritesNothingAfterALaterOneCame() {
    fixture.execute(
        "create table orders (id bigserial primary key)",
        "insert into orders select from generate_series(1, 1000)");
    Target target = fixture.target(Optional.empty());
    fixture.apply(target, Phase.EXPAND);
    try (SourceSession early = UnfencedSession.open(fixture.settings, target)) {
      early.fence(1);
      Backfill stale = new Backfill(early, target, Optional.of(fixture.mappings), _ -> Set.of());
      Backfill.Range all = new Backfill.Range(0, 1_000, stale.checkpoint().lastPosition());
      assertThat(stale.fill(all, 128, 1, MILLIS_MAX)).isInstanceOf(Backfill.Outcome.Filled.class);
      try (SourceSession late = UnfencedSession.open(fixture.settings, target)) {
        late.fence(2);
      }
      assertThatThrownBy(stale::checkpoint)
          .as("its connection was ended, with whatever it had under way")
          .isInstanceOf(DatabaseUnavailable.class);

      assertThatThrownBy(stale::checkpoint)
          .as("and it doesn't connect again by itself")
          .isInstanceOf(DatabaseUnavailable.class);
    }
    try (SourceSession woken = UnfencedSession.open(fixture.settings, target)) {
      Backfill stale = new Backfill(woken, target, Optional.of(fixture.mappings), _ -> Set.of());
      Backfill.Range rest = new Backfill.Range(128, 1_000, stale.checkpoint().lastPosition());

      assertThatThrownBy(() -> stale.fill(rest, 256, 1, MILLIS_MAX)).isInstanceOf(FenceLost.class);
      assertThatThrownBy(
              () ->
                  stale.setAside(
                      rest,
                      new Backfill.Outcome.Failed(SetAside.Cause.LOCKED, "held"),
                      1,
                      MILLIS_MAX))
          .isInstanceOf(FenceLost.class);
      assertThat(stale.checkpoint().counts().setAside()).isZero();
      assertThatThrownBy(() -> woken.fence(1)).isInstanceOf(FenceLost.class);
      assertThat(fixture.count("select count(snowflake_id) from orders")).isEqualTo(128);
      assertThat(stale.checkpoint().lastId()).isEqualTo(128);
    }
  }

  /** It slept while another took over, and what that one has under way is none of its business. */
  @Test
  void anEarlierRunnerThatWakesUpEndsNothingOfALaterOne() {
    fixture.execute("create table orders (id bigserial primary key)");
    Target target = fixture.target(Optional.empty());
    fixture.apply(target, Phase.EXPAND);
    try (SourceSession late =
        SourceSession.open(fixture.settings, WatchTimeouts.DEFAULT, target, 2, _ -> {})) {
      assertThatThrownBy(
              () -> SourceSession.open(fixture.settings, WatchTimeouts.DEFAULT, target, 1, _ -> {}))
          .isInstanceOf(FenceLost.class);

      late.fence(2);
    }
  }

  /** A copy of the database has the same run. */
  @Test
  void aRunnerEndsNoneInAnotherDatabaseOfTheServer() {
    fixture.execute("create table orders (id bigserial primary key)");
    Target target = fixture.target(Optional.empty());
    try (SourceSession other = UnfencedSession.open(TestDatabase.empty().settings(1), target);
        SourceSession ours = UnfencedSession.open(fixture.settings, target)) {
      ours.fence(1);
      other.fence(1);
    }
  }

  @Test
  void theBackfillGivesWayBeforeTheServerLooksForADeadlock() throws Exception {
    fixture.execute(
        "create table orders (id bigserial primary key, text text)",
        "insert into orders select from generate_series(1, 100)");
    Target target = fixture.target(Optional.empty());
    fixture.apply(target, Phase.EXPAND);
    AtomicBoolean stopped = new AtomicBoolean();
    CompletableFuture<Void> backfill =
        CompletableFuture.runAsync(() -> fill(target, stopped), Thread::startVirtualThread);
    try (TestSession writer = fixture.sql().session()) {
      for (int round = 0; round < ROUNDS; round++) {
        writer.begin("update orders set text = 'last' where id = 100");
        Awaitility.await().pollInterval(Duration.ofMillis(2)).until(() -> aSessionWaits(writer));
        writer.execute("update orders set text = 'first' where id = 1");
        writer.rollback();
      }
      writer.begin("update orders set text = 'last' where id = 100");
      stopped.set(true);
      backfill.get();
      writer.commit();
    }
    assertThat(gaveWay.get()).isPositive();
  }

  /** All rows at once, again and again. */
  private void fill(Target target, AtomicBoolean stopped) {
    try (SourceSession session = UnfencedSession.open(fixture.settings, target)) {
      session.fence(1);
      Backfill backfill =
          new Backfill(session, target, Optional.of(fixture.mappings), _ -> Set.of());
      Backfill.Range all = new Backfill.Range(0, 100, backfill.checkpoint().lastPosition());
      while (!stopped.get()) {
        if (backfill.fill(all, 128, 1, MILLIS_MAX) instanceof Backfill.Outcome.Failed) {
          gaveWay.incrementAndGet();
        }
      }
    }
  }

  private static boolean aSessionWaits(TestSession session) {
    return session.number(
            "select count(*) from pg_locks l join pg_stat_activity a using (pid)"
                + " where not l.granted and a.datname = current_database()")
        > 0;
  }
}
