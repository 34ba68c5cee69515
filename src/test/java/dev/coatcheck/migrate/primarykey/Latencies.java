package dev.coatcheck.migrate.primarykey;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/** How long operations took, to the tenth of a millisecond, and the longest exactly. */
final class Latencies {
  private static final int TENTHS_MAX = 100_000;

  private final AtomicLongArray tenths = new AtomicLongArray(TENTHS_MAX);
  private final AtomicLong longestNanos = new AtomicLong();

  void add(long nanos) {
    tenths.incrementAndGet(
        (int) Math.min(TENTHS_MAX - 1, TimeUnit.NANOSECONDS.toMicros(nanos) / 100));
    longestNanos.accumulateAndGet(nanos, Math::max);
  }

  long longestMillis() {
    return TimeUnit.NANOSECONDS.toMillis(longestNanos.get());
  }

  @Override
  public String toString() {
    long count = 0;
    for (int i = 0; i < TENTHS_MAX; i++) {
      count += tenths.get(i);
    }
    return "%d operations, p50 %.1f ms, p99 %.1f ms, longest %d ms"
        .formatted(count, percentile(count, 0.5), percentile(count, 0.99), longestMillis());
  }

  private double percentile(long count, double share) {
    long left = Math.round(count * share);
    for (int i = 0; i < TENTHS_MAX; i++) {
      left -= tenths.get(i);
      if (left <= 0) {
        return i / 10.0;
      }
    }
    return TENTHS_MAX / 10.0;
  }
}
