package dev.coatcheck.core.key;

import java.util.concurrent.atomic.AtomicLongArray;

/** Hands out runs of rising positions, each position at most once, without a lock. */
public final class Positions {
  private static final long CLOSED = Long.MAX_VALUE;

  /** {@code count} positions starting at {@code first}; the count is 0 if there was no room. */
  public record Run(long first, int count) {
    static final Run NONE = new Run(0, 0);
  }

  // The cell is two cache lines away from either end: every draw writes it, and must not share a
  // line with neighbours in memory that every draw reads (false sharing).
  private static final int CELL = 16;
  private static final int CELLS = 2 * CELL + 1;

  private final AtomicLongArray cells = new AtomicLongArray(CELLS);

  /** Starts after {@code last}; −1 for the whole life of a worker. */
  public Positions(long last) {
    cells.set(CELL, last);
  }

  /**
   * Reserves up to {@code count} positions, from {@code earliest} on and below {@code limit}. It
   * may reserve fewer: otherwise a large draw could wait forever behind many small ones.
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

  /** The highest position that was handed out. */
  public long last() {
    return cells.get(CELL);
  }

  /** Stops handing out positions, and returns the last position that was handed out. */
  public long close() {
    return cells.getAndSet(CELL, CLOSED);
  }
}
