package dev.coatcheck.bench.load;

import java.time.Duration;

/** When requests are due. Times are those of {@link System#nanoTime}, without its origin. */
sealed interface Schedule {
  /** When the next request is due; {@link Long#MAX_VALUE} if there is none left. */
  long nextNanos(long nowNanos);

  /** Takes the next request. */
  void take();

  /** For so long: whenever a connection is free. */
  static Schedule closed(Duration time) {
    return new Closed(time.toNanos());
  }

  /**
   * So many a second, evenly spaced, whatever the server does: a request that finds no free
   * connection is late, and its time counts from when it was due.
   */
  static Schedule open(Duration time, double perSecond) {
    return new Open(perSecond, (long) (perSecond * time.toNanos() / 1e9));
  }

  /** A closed loop: a request is due when it can be sent. */
  record Closed(long endNanos) implements Schedule {
    @Override
    public long nextNanos(long nowNanos) {
      return nowNanos < endNanos ? nowNanos : Long.MAX_VALUE;
    }

    @Override
    public void take() {}
  }

  /** An open loop. */
  final class Open implements Schedule {
    private final double perSecond;
    private final long count;
    private long taken;

    private Open(double perSecond, long count) {
      this.perSecond = perSecond;
      this.count = count;
    }

    @Override
    public long nextNanos(long nowNanos) {
      return taken < count ? (long) (taken * 1e9 / perSecond) : Long.MAX_VALUE;
    }

    @Override
    public void take() {
      taken++;
    }
  }
}
