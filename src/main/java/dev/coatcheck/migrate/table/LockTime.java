package dev.coatcheck.migrate.table;

import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * How long the locks of a transaction blocked writers: at most wait + hold, because writers queue
 * behind a waiting lock request.
 *
 * @param waitedMillis for the locks, in the successful attempt of the step
 * @param heldMillis from then to the commit
 */
public record LockTime(long waitedMillis, long heldMillis) {
  public String text() {
    return "waited %d ms for its locks and held them for %d ms".formatted(waitedMillis, heldMillis);
  }

  /** Measures the time of one transaction, from the first statement that locks a table. */
  static final class Watch {
    private boolean isLocked;
    private long askedNano;
    private long lockedNano;

    void during(String statement, Runnable run) {
      boolean isFirst = !isLocked && locks(statement);
      if (isFirst) {
        askedNano = System.nanoTime();
      }
      run.run();
      if (isFirst) {
        isLocked = true;
        lockedNano = System.nanoTime();
      }
    }

    /** Called after the commit; empty if no statement has locked a table. */
    Optional<LockTime> ended() {
      return isLocked
          ? Optional.of(
              new LockTime(millis(lockedNano - askedNano), millis(System.nanoTime() - lockedNano)))
          : Optional.empty();
    }

    static boolean locks(String statement) {
      String text = statement.toLowerCase(Locale.ROOT);
      return text.startsWith("alter table") || text.contains("lock table ");
    }

    /** Rounded up: a lock is always held for some time. */
    private static long millis(long nanos) {
      return TimeUnit.NANOSECONDS.toMillis(nanos + TimeUnit.MILLISECONDS.toNanos(1) - 1);
    }
  }
}
