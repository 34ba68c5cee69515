package dev.coatcheck.migrate.steps;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.backfill.Backfill;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.UnfencedSession;
import dev.coatcheck.postgres.sql.TestSession;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A writer that locks rows against the order of the backfill is never a deadlock's victim. */
class DeadlockTest {
  private static final int ROUNDS = 3;
  private static final int MILLIS_MAX = 20_000;

  @RegisterExtension final MigrationFixture fixture = MigrationFixture.beside();
  private final AtomicInteger gaveWay = new AtomicInteger();

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
      Backfill backfill = new Backfill(session, target, Optional.of(fixture.mappings));
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
