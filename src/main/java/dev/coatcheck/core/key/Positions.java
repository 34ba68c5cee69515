package dev.coatcheck.core.key;

import java.util.concurrent.atomic.AtomicLongArray;

/** Hands out runs of rising positions, each position at most once, without a lock. */
public final class Positions {
  private static final long CLOSED = Long.MAX_VALUE;

  /** {@code count} positions from {@code first} on; none when there was no room. */
  public record Run(long first, int count) {
    static final Run NONE = new Run(0, 0);
  }

  // The one cell in use lies in the middle of two cache lines on either side: every draw writes it,
  // and what lies beside it in memory is what every draw reads.
  private static final int CELL = 16;
  private static final int CELLS = 2 * CELL + 1;

  private final AtomicLongArray cells = new AtomicLongArray(CELLS);

  /** Begins after {@code last}; −1 for the whole of a worker's life. */
  public Positions(long last) {
    cells.set(CELL, last);
  }

  /**
   * Reserves up to {@code count} positions, not before {@code earliest} and all below {@code
   * limit}. Less than was asked for is better than nothing: a large draw could otherwise wait
   * forever beside many small ones.
   */
  public Run reserve(int count, long earliest, long limit) {
    while (true) {
      long before = cells.get(CELL);
      if (before == CLOSED) {
        return Run.NONE;
      }
      long first = Math.max(before + 1, earliest);
      if (first >= limit) {
        return Run.NONE;
      }
      int taken = (int) Math.min(count, limit - first);
      if (cells.compareAndSet(CELL, before, first + taken - 1)) {
        return new Run(first, taken);
      }
    }
  }

  /** The highest position handed out. */
  public long last() {
    return cells.get(CELL);
  }

  /** Hands out no more, and says for good which position was the last. */
  public long close() {
    return cells.getAndSet(CELL, CLOSED);
  }
}
