package dev.coatcheck.bench.load;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Counts and times the answers of a load, as a whole and second by second. */
final class Timeline {
  private static final long NANOS_MAX = TimeUnit.MINUTES.toNanos(10);
  private static final int DIGITS = 3;
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final Histogram all = new Histogram(NANOS_MAX, DIGITS);
  private final Histogram served = new Histogram(NANOS_MAX, DIGITS);
  private final Histogram refused = new Histogram(NANOS_MAX, DIGITS);
  private final List<LoadResult.Second> seconds = new ArrayList<>();
  private long sent;
  private long broken;
  private long refusedInAll;
  private long brokenInAll;

  void sent() {
    sent++;
  }

  void served(long nanos) {
    served.recordValue(Math.min(nanos, NANOS_MAX));
  }

  void refused(long nanos) {
    refused.recordValue(Math.min(nanos, NANOS_MAX));
  }

  void broken() {
    broken++;
  }

  /** Closes the seconds that are over. */
  void advance(long nowNanos) {
    while (nowNanos >= (seconds.size() + 1) * SECOND) {
      closeSecond();
    }
  }

  LoadResult end(long nowNanos) {
    advance(nowNanos);
    closeSecond();
    return new LoadResult(
        all.getTotalCount(),
        refusedInAll,
        brokenInAll,
        nowNanos / 1e9,
        all.getValueAtPercentile(50) / 1e6,
        all.getValueAtPercentile(99) / 1e6,
        List.copyOf(seconds));
  }

  private void closeSecond() {
    seconds.add(
        new LoadResult.Second(
            seconds.size(),
            sent,
            served.getTotalCount(),
            refused.getTotalCount(),
            broken,
            served.getValueAtPercentile(99) / 1e6,
            refused.getValueAtPercentile(99) / 1e6));
    all.add(served);
    refusedInAll += refused.getTotalCount();
    brokenInAll += broken;
    served.reset();
    refused.reset();
    sent = 0;
    broken = 0;
  }
}
