package dev.coatcheck.bench;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/**
 * How fast calls were answered.
 *
 * @param p99Millis in milliseconds: 99 of 100 calls took no longer
 */
record Pace(double perSecond, double p99Millis) {
  private static final long CALL_NANOS_MAX = TimeUnit.MINUTES.toNanos(1);
  private static final int DIGITS = 3;

  /** Keeps what each call took; one thread fills it. */
  static final class Times {
    private final Histogram nanos = new Histogram(CALL_NANOS_MAX, DIGITS);

    void took(long callNanos) {
      nanos.recordValue(Math.min(callNanos, CALL_NANOS_MAX));
    }

    void add(Times other) {
      nanos.add(other.nanos);
    }

    /** The pace of all calls, which took this long together. */
    Pace over(Duration whole) {
      return new Pace(
          nanos.getTotalCount() * 1e9 / whole.toNanos(), nanos.getValueAtPercentile(99) / 1e6);
    }
  }

  Pace times(int perCall) {
    return new Pace(perSecond * perCall, p99Millis);
  }

  static Pace median(List<Pace> paces) {
    return new Pace(median(paces, Pace::perSecond), median(paces, Pace::p99Millis));
  }

  private static double median(List<Pace> paces, ToDoubleFunction<Pace> of) {
    return paces.stream().mapToDouble(of).sorted().skip(paces.size() / 2).findFirst().orElseThrow();
  }
}
