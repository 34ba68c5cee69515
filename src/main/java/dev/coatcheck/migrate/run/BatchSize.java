package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.backfill.KeyTimes;

/**
 * How many rows a batch has: as many as take the wanted time, in whole blocks. Grows slowly,
 * shrinks at once.
 */
final class BatchSize {
  private static final int ROWS_MIN = KeyTimes.BLOCK;
  static final int ROWS_MAX = KeyTimes.wholeBlocks(50_000);
  private static final int ROWS_FIRST = 1_024;
  private static final double GROWTH_MAX = 1.2;
  private static final int STATEMENT_FACTOR = 10;
  private static final int STATEMENT_MILLIS_MIN = 5_000;

  /** Less than a session waits for an answer. */
  private static final int STATEMENT_MILLIS_MAX = 50_000;

  /** Between two numbers of blocks it grows unseen. */
  private int wanted = ROWS_FIRST;

  int rows() {
    return KeyTimes.wholeBlocks(wanted);
  }

  /** How long a batch may take before it is given up and split. */
  int statementMillisMax(int wantedMillis) {
    return Math.clamp(
        (long) STATEMENT_FACTOR * wantedMillis, STATEMENT_MILLIS_MIN, STATEMENT_MILLIS_MAX);
  }

  void took(long millis, int wantedMillis) {
    double factor = Math.min(GROWTH_MAX, wantedMillis / (double) Math.max(1, millis));
    wanted = bounded((long) Math.ceil(wanted * factor));
  }

  void shrink(int divisor) {
    wanted = bounded(rows() / divisor);
  }

  /** Down to one block, where a single row may be what fails. */
  void shrinkToBlock() {
    wanted = ROWS_MIN;
  }

  boolean isBlock() {
    return rows() == ROWS_MIN;
  }

  private static int bounded(long rows) {
    return Math.clamp(rows, ROWS_MIN, ROWS_MAX);
  }
}
