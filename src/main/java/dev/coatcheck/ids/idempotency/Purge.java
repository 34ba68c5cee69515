package dev.coatcheck.ids.idempotency;

import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Deletes expired answers once an hour, in small transactions. Instances do it side by side: each
 * skips what another one has locked.
 */
public final class Purge implements AutoCloseable {
  private static final int PERIOD_MINUTES = 60;

  /** Of one statement: 92 ms were measured. */
  private static final int ROWS_MAX = 50_000;

  /** Of one run, so 13,800 answers a second at most; what is left waits for the next. */
  private static final int BATCHES_MAX = 1_000;

  private final IdempotencyStore store;
  private final Observer observer;
  private final ScheduledExecutorService timer;

  Purge(Database database, Observer observer) {
    this.store = new IdempotencyStore(database);
    this.observer = observer;
    this.timer =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("idempotency-purge").factory());
  }

  /** Starts to purge; the first time after a part of the period, so that instances take turns. */
  public static Purge start(Database database, Observer observer) {
    Purge purge = new Purge(database, observer);
    var _ =
        purge.timer.scheduleWithFixedDelay(
            purge::run,
            ThreadLocalRandom.current().nextInt(1, PERIOD_MINUTES),
            PERIOD_MINUTES,
            TimeUnit.MINUTES);
    return purge;
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }

  void run() {
    try {
      for (int batch = 0; batch < BATCHES_MAX; batch++) {
        if (store.purge(ROWS_MAX) < ROWS_MAX) {
          return;
        }
      }
    } catch (DatabaseUnavailable reportedAlready) {
      // The next run deletes them.
    } catch (RuntimeException bug) {
      observer.observe(new Event.RequestFailed("idempotency-purge", bug));
    }
  }
}
