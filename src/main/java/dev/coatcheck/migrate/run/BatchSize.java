package dev.coatcheck.migrate.run;

/** How many rows a batch has: as many as take the wanted time. Grows slowly, shrinks at once. */
final class BatchSize {
  static final int ROWS_MAX = 50_000;
  private static final int ROWS_MIN = 1;
  private static final int ROWS_FIRST = 1_000;
  private static final double GROWTH_MAX = 1.2;
  private static final int STATEMENT_FACTOR = 10;
  private static final int STATEMENT_MILLIS_MIN = 5_000;

  /** Less than a session waits for an answer. */
  private static final int STATEMENT_MILLIS_MAX = 50_000;

  private int rows = ROWS_FIRST;

  int rows() {
    return rows;
  }

  /** How long a batch may take before it is given up and split. */
  int statementMillisMax(int wantedMillis) {
    return Math.clamp(
        (long) STATEMENT_FACTOR * wantedMillis, STATEMENT_MILLIS_MIN, STATEMENT_MILLIS_MAX);
  }

  void took(long millis, int wantedMillis) {
    double factor = Math.min(GROWTH_MAX, wantedMillis / (double) Math.max(1, millis));
    rows = bounded((long) Math.ceil(rows * factor));
  }

  void shrink(int divisor) {
    rows = bounded(rows / divisor);
  }

  private static int bounded(long rows) {
    return Math.clamp(rows, ROWS_MIN, ROWS_MAX);
  }
}
