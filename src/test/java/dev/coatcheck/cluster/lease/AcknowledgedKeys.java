package dev.coatcheck.cluster.lease;

import dev.coatcheck.core.key.Positions;
import dev.coatcheck.core.key.SnowflakeLayout;

/** The keys that processes said they drew, over all of them. */
final class AcknowledgedKeys {
  private static final SnowflakeLayout LAYOUT = SnowflakeLayout.DEFAULT;

  private final KeyLedger ledger = new KeyLedger();
  private String duplicate = "";

  /** {@code count} keys from {@code firstKey} on, all of one millisecond. */
  synchronized void record(String process, long firstKey, int count) {
    long first = LAYOUT.position(LAYOUT.timeOf(firstKey).toEpochMilli());
    try {
      ledger.record(
          LAYOUT.workerOf(firstKey),
          new Positions.Run(first + (firstKey & LAYOUT.sequenceMax()), count));
    } catch (AssertionError found) {
      duplicate = process + ": " + found.getMessage();
    }
  }

  synchronized long count() {
    return ledger.keys();
  }

  synchronized void requireUnique() {
    if (!duplicate.isEmpty()) {
      throw new AssertionError(duplicate);
    }
  }
}
