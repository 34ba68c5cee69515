package dev.coatcheck.postgres.connection;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Ends what is not over by its deadline: the loan of a connection, and a call that waits for its
 * group. One thread looks at all of them every {@value #LOOK_MILLIS} ms, and sleeps once there was
 * nothing to look at for a second. A timer for each would cost more than most of them last.
 */
public final class DeadlineSweep {
  /** For all of the process, whose end the thread of the sweep doesn't hold up. */
  public static final DeadlineSweep SHARED = new DeadlineSweep(System::nanoTime);

  private static final long LOOK_MILLIS = 20;
  private static final long LOOK_NANOS = LOOK_MILLIS * 1_000_000;
  private static final int IDLE_LOOKS_MAX = 50;

  private final LongSupplier nanoTime;
  private final Queue<Timed> timed = new ConcurrentLinkedQueue<>();
  private final Thread thread;
  private volatile boolean asleep;

  public interface Timed {
    Deadline deadline();

    /** Whether it needs no end any more. */
    boolean isOver();

    /** Ends it at its deadline, unless it is over; must not wait. */
    void end();
  }

  /** Sweeps by a clock, as {@link System#nanoTime} is one. */
  public DeadlineSweep(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.thread = Thread.ofPlatform().daemon().name("deadlines").start(this::run);
  }

  /** Ends it if it is not over by its deadline, {@value #LOOK_MILLIS} ms late at most. */
  public void watch(Timed one) {
    timed.add(one);
    if (asleep) {
      LockSupport.unpark(thread);
    }
  }

  private void run() {
    int idleLooks = 0;
    while (true) {
      idleLooks = timed.isEmpty() ? idleLooks + 1 : 0;
      if (idleLooks > IDLE_LOOKS_MAX) {
        sleep();
        idleLooks = 0;
      } else {
        LockSupport.parkNanos(LOOK_NANOS);
      }
      look();
    }
  }

  /** The first to come after the field is set wakes this thread. */
  private void sleep() {
    asleep = true;
    if (timed.isEmpty()) {
      LockSupport.park();
    }
    asleep = false;
  }

  void look() {
    long now = nanoTime.getAsLong();
    timed.removeIf(one -> one.isOver() || isEndedAt(now, one));
  }

  private static boolean isEndedAt(long now, Timed one) {
    if (one.deadline().nano() - now > 0) {
      return false;
    }
    try {
      one.end();
      return true;
    } catch (RuntimeException | Error noMemory) {
      return false; // the next look tries again
    }
  }

  /** How many are looked at, with those that are over since the last look. */
  int watched() {
    return timed.size();
  }

  Thread thread() {
    return thread;
  }
}
