package dev.coatcheck;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.opentest4j.TestAbortedException;

/**
 * How late this machine runs a thread that is due, measured beside a test of a deadline: a thread
 * sleeps 1 ms again and again. On a machine with more work than cores a deadline can't be kept by
 * anybody, so the 99th percentile of that delay is added to the bound. A machine that is later than
 * {@link #TOLERABLE} says nothing about deadlines, and the test is skipped with that reason. A
 * standstill, which a percentile leaves out, is added to the bound of what it held up.
 *
 * <p>Only for deadlines that are promised. What merely has to happen is waited for.
 */
public final class MachineDelay implements AutoCloseable {
  /** What the reason of a skip begins with. */
  static final String REASON = "this machine runs threads up to ";

  private static final Duration TOLERABLE = Duration.ofMillis(250);
  private static final Duration NAP = Duration.ofMillis(1);

  /**
   * From this delay on no thread of this process ran: all collect garbage, or the machine paused.
   */
  private static final Duration STANDSTILL = Duration.ofMillis(20);

  private final List<Nap> naps = new ArrayList<>();
  private final Thread sleeper;
  private long asleepSinceNano = System.nanoTime();

  /** A sleep that ended, and how much later than it should have. */
  record Nap(long wokenNano, long delayNanos) {
    /** For how much of the time since then no thread ran, if it was later than others. */
    private long standstillNanos(long sinceNano, Duration others) {
      return delayNanos > Math.max(STANDSTILL.toNanos(), others.toNanos())
          ? Math.clamp(wokenNano - sinceNano, 0, delayNanos)
          : 0;
    }
  }

  private MachineDelay() {
    sleeper = Thread.ofPlatform().name("machine-delay").daemon().start(this::sleep);
  }

  /** Begins to measure. */
  public static MachineDelay measure() {
    return new MachineDelay();
  }

  /** The 99th percentile of the delays until now. */
  public synchronized Duration p99() {
    List<Long> sorted = naps().map(Nap::delayNanos).sorted().toList();
    return Duration.ofNanos(sorted.get((sorted.size() * 99 + 99) / 100 - 1));
  }

  /**
   * Fails if something took longer than its bound and the machine's delay.
   *
   * @param took until now
   */
  public void requireWithin(Duration bound, Duration took) {
    requireWithin(bound.plus(standstill(took)), took, p99());
  }

  private synchronized Duration standstill(Duration untilNow) {
    return standstill(naps(), System.nanoTime() - untilNow.toNanos(), p99());
  }

  static Duration standstill(Stream<Nap> naps, long sinceNano, Duration others) {
    return Duration.ofNanos(naps.mapToLong(nap -> nap.standstillNanos(sinceNano, others)).sum());
  }

  /** With the present one: a thread that hasn't been woken yet is late too. */
  private Stream<Nap> naps() {
    return Stream.concat(naps.stream(), Stream.of(napUntil(System.nanoTime())));
  }

  private Nap napUntil(long now) {
    return new Nap(now, Math.max(0, now - asleepSinceNano - NAP.toNanos()));
  }

  /** Skips the test if the machine is later than any deadline can bear. */
  public void requireTimely() {
    requireTimely(p99());
  }

  /** Skips the test if its own work was begun that much later than it was due. */
  public static void requireTimely(Duration delay) {
    if (delay.compareTo(TOLERABLE) > 0) {
      throw new TestAbortedException(
          REASON + delay.toMillis() + " ms late, which says nothing about deadlines");
    }
  }

  static void requireWithin(Duration bound, Duration took, Duration delay) {
    if (took.compareTo(bound) < 0) {
      return;
    }
    requireTimely(delay);
    if (took.compareTo(bound.plus(delay)) >= 0) {
      throw new AssertionError(
          "took %s, more than %s and the machine's delay of %s".formatted(took, bound, delay));
    }
  }

  private void sleep() {
    try {
      while (true) {
        Thread.sleep(NAP);
        woken();
      }
    } catch (InterruptedException closed) {
      // The test is over.
    }
  }

  private synchronized void woken() {
    long now = System.nanoTime();
    naps.add(napUntil(now));
    asleepSinceNano = now;
  }

  @Override
  public void close() {
    sleeper.interrupt();
  }
}
