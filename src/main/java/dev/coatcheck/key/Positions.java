package dev.coatcheck.key;

import java.util.concurrent.atomic.AtomicLong;

/** Hands out runs of rising positions, each position at most once, without a lock. */
public final class Positions {
  private static final long CLOSED = Long.MAX_VALUE;

  /** {@code count} positions from {@code first} on; none when there was no room. */
  public record Run(long first, int count) {
    static final Run NONE = new Run(0, 0);
  }

  private final AtomicLong last;

  /** Begins after {@code last}; −1 for the whole of a worker's life. */
  public Positions(long last) {
    this.last = new AtomicLong(last);
  }

  /**
   * Reserves up to {@code count} positions, not before {@code earliest} and all below {@code
   * limit}. Less than was asked for is better than nothing: a large draw could otherwise wait
   * forever beside many small ones.
   */
  public Run reserve(int count, long earliest, long limit) {
    while (true) {
      long before = last.get();
      if (before == CLOSED) {
        return Run.NONE;
      }
      long first = Math.max(before + 1, earliest);
      if (first >= limit) {
        return Run.NONE;
      }
      int taken = (int) Math.min(count, limit - first);
      if (last.compareAndSet(before, first + taken - 1)) {
        return new Run(first, taken);
      }
      Thread.onSpinWait();
    }
  }

  /** The highest position handed out. */
  public long last() {
    return last.get();
  }

  /** Hands out no more, and says for good which position was the last. */
  public long close() {
    return last.getAndSet(CLOSED);
  }
}
