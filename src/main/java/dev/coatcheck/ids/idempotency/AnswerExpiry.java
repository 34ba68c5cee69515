package dev.coatcheck.ids.idempotency;

import dev.coatcheck.core.observe.Background;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.LockTimeout;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Removes expired answers, a whole part at a time. Each minute every instance checks whether the
 * current part is old enough, and then begins the next part, or empties an expired one.
 */
public final class AnswerExpiry implements AutoCloseable {
  private static final int PERIOD_SECONDS = 60;

  private final IdempotencyStore store;
  private final Duration part;
  private final Background background;
  private final ScheduledExecutorService timer;

  AnswerExpiry(Database database, Duration part, Observer observer) {
    this.store = new IdempotencyStore(database);
    this.part = part;
    this.background = new Background("idempotency-turns", observer);
    this.timer = Background.timer("idempotency-turns");
  }

  public static AnswerExpiry start(Database database, Observer observer) {
    AnswerExpiry turns = new AnswerExpiry(database, PartTable.PART, observer);
    var _ =
        turns.timer.scheduleWithFixedDelay(
            turns.background.guarded(turns::run), PERIOD_SECONDS, PERIOD_SECONDS, TimeUnit.SECONDS);
    return turns;
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }

  /** Returns whether the next part began. */
  boolean run() {
    try {
      if (store.rotate(part)) {
        return true;
      }
      boolean _ = store.empty();
      return false;
    } catch (LockTimeout held) {
      return false;
    }
  }
}
