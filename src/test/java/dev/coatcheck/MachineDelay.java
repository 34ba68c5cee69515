package dev.coatcheck;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.opentest4j.TestAbortedException;

/**
 * How late this machine runs a thread that is due, measured beside a test of a deadline: a thread
 * sleeps 1 ms again and again. On a machine with more work than cores a deadline can't be kept by
 * anybody, so the 99th percentile of that delay is added to the bound. A machine that is later than
 * {@link #TOLERABLE} says nothing about deadlines, and the test is skipped with that reason.
 *
 * <p>Only for deadlines that are promised. What merely has to happen is waited for.
 */
public final class MachineDelay implements AutoCloseable {
  /** What the reason of a skip begins with. */
  static final String REASON = "this machine runs threads up to ";

  private static final Duration TOLERABLE = Duration.ofMillis(250);
  private static final Duration NAP = Duration.ofMillis(1);

  private final List<Long> delaysNanos = new ArrayList<>();
  private final Thread sleeper;
  private long asleepSinceNano = System.nanoTime();

  private MachineDelay() {
    sleeper = Thread.ofPlatform().name("machine-delay").daemon().start(this::sleep);
  }

  /** Begins to measure. */
  public static MachineDelay measure() {
    return new MachineDelay();
  }

  /** The 99th percentile of the delays until now. */
  public synchronized Duration p99() {
    List<Long> sorted = new ArrayList<>(delaysNanos);
    // A thread that hasn't been woken yet is late too.
    sorted.add(Math.max(0, System.nanoTime() - asleepSinceNano - NAP.toNanos()));
    Collections.sort(sorted);
    return Duration.ofNanos(sorted.get((sorted.size() * 99 + 99) / 100 - 1));
  }

  /** Fails if something took longer than its bound and the machine's delay. */
  public void requireWithin(Duration bound, Duration took) {
    requireWithin(bound, took, p99());
  }

  /** Skips the test if the machine is later than any deadline can bear. */
  public void requireTimely() {
    requireTimely(p99());
  }

  private static void requireTimely(Duration delay) {
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
    delaysNanos.add(Math.max(0, now - asleepSinceNano - NAP.toNanos()));
    asleepSinceNano = now;
  }

  @Override
  public void close() {
    sleeper.interrupt();
  }
}
