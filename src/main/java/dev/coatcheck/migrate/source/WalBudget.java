package dev.coatcheck.migrate.source;

/**
 * Limits the WAL of a source to a rate, averaged over a minute. WAL above the rate is a debt that
 * is paid off over time. Other sessions' WAL counts too, because replicas and archives have to
 * carry all of it.
 */
final class WalBudget {
  private static final double NANOS = 1e9;
  private static final int SAVED_SECONDS_MAX = 1;
  private static final int DEBT_SECONDS_MAX = 60;

  private boolean hasBegun;
  private long lastPosition;
  private long lastNano;
  private double debt;

  /** Whether more WAL was written than the rate allows until now. */
  boolean isSpent(long position, long nowNano, long bytesPerSecondMax) {
    if (hasBegun) {
      double paid = bytesPerSecondMax * ((nowNano - lastNano) / NANOS);
      debt =
          Math.clamp(
              debt + (position - lastPosition) - paid,
              -1.0 * SAVED_SECONDS_MAX * bytesPerSecondMax,
              1.0 * DEBT_SECONDS_MAX * bytesPerSecondMax);
    }
    hasBegun = true;
    lastPosition = position;
    lastNano = nowNano;
    return debt > 0;
  }
}
