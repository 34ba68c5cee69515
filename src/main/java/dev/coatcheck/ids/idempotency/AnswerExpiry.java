package dev.coatcheck.ids.idempotency;

import dev.coatcheck.core.observe.Background;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.LockTimeout;
import java.time.Duration;

/**
 * Removes expired answers, a whole part at a time. Each minute every instance checks whether the
 * current part is old enough, and then begins the next part, or empties an expired one.
 */
public final class AnswerExpiry implements AutoCloseable {
  private static final Duration PERIOD = Duration.ofSeconds(60);

  private final IdempotencyStore store;
  private final Duration part;
  private final Background background;

  AnswerExpiry(Database database, Duration part, Observer observer) {
    this.store = new IdempotencyStore(database);
    this.part = part;
    this.background = new Background("idempotency-turns", observer);
  }

  public static AnswerExpiry start(Database database, Observer observer) {
    AnswerExpiry turns = new AnswerExpiry(database, PartTable.PART, observer);
    turns.background.every(PERIOD, turns::run);
    return turns;
  }

  @Override
  public void close() {
    background.stop();
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
