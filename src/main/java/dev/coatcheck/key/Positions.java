package dev.coatcheck.key;

import java.util.concurrent.atomic.AtomicLong;

/** Hands out runs of rising positions, each at most once, without a lock. */
public final class Positions {
  /** No run fits below the limit. */
  public static final long FULL = Long.MIN_VALUE;

  private final AtomicLong last = new AtomicLong(-1);

  /**
   * Reserves {@code count} positions, the first not before {@code earliest} and all below {@code
   * limit}. Returns the first, or {@link #FULL}.
   */
  public long reserve(int count, long earliest, long limit) {
    while (true) {
      long before = last.get();
      long first = Math.max(before + 1, earliest);
      if (first > limit - count) {
        return FULL;
      }
      if (last.compareAndSet(before, first + count - 1)) {
        return first;
      }
      Thread.onSpinWait();
    }
  }

  /** The highest position handed out; −1 before the first. */
  public long last() {
    return last.get();
  }
}
