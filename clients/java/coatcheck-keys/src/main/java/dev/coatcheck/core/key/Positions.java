package dev.coatcheck.core.key;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Hands out runs of rising positions, each position at most once, without a lock. While time stands
 * still, a run is one atomic addition, whatever other threads do.
 */
public final class Positions {
  /** In the place of a position: there was no room. */
  public static final long NONE = -1;

  /** Above every position, with room for additions of threads that were late. */
  private static final long CLOSED = 1L << 62;

  /** Larger runs compare and set: what a late addition leaves unused is never handed out. */
  private static final int ADDED_MAX = 64;

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
      long first = Math.max(before + 1, earliest);
      if (before >= CLOSED || first >= limit) {
        return Run.NONE;
      }
      int taken = (int) Math.min(count, limit - first);
      if (taken == 1) {
        long one = reserveOne(earliest, limit);
        return one == NONE ? Run.NONE : new Run(one, 1);
      }
      if (taken <= ADDED_MAX && first == before + 1) {
        long added = cells.getAndAdd(CELL, taken) + 1;
        if (added + taken <= limit) {
          return new Run(added, taken);
        }
      } else if (cells.compareAndSet(CELL, before, first + taken - 1)) {
        return new Run(first, taken);
      }
    }
  }

  /** One position, from {@code earliest} on and below {@code limit}, or {@link #NONE}. */
  public long reserveOne(long earliest, long limit) {
    while (true) {
      long before = cells.get(CELL);
      if (before >= CLOSED) {
        return NONE;
      }
      if (before + 1 >= earliest) {
        if (before + 1 >= limit) {
          return NONE;
        }
        // Nobody lowers the cell, so what is added to lies behind earliest.
        long added = cells.getAndIncrement(CELL) + 1;
        if (added < limit) {
          return added;
        }
      } else if (earliest >= limit) {
        return NONE;
      } else if (cells.compareAndSet(CELL, before, earliest)) {
        return earliest;
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
