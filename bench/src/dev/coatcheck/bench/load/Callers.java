package dev.coatcheck.bench.load;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/** Calls inside this JVM, each by a thread of its own that calls again once its call returned. */
public final class Callers {
  private static final long NANOS_MAX = TimeUnit.MINUTES.toNanos(10);
  private static final int DIGITS = 3;

  private Callers() {}

  /** What one thread does until the end. */
  private interface Loop {
    void run(Runnable call, Histogram times);
  }

  /** A closed loop; the last calls are waited for. */
  public static LoadResult closed(List<Runnable> calls, Duration time, ThreadFactory threads) {
    long end = System.nanoTime() + time.toNanos();
    return run(
        calls,
        threads,
        (call, times) -> {
          for (long begun = System.nanoTime(); begun - end < 0; ) {
            call.run();
            long done = System.nanoTime();
            times.recordValue(Math.min(done - begun, NANOS_MAX));
            begun = done;
          }
        });
  }

  /**
   * An open loop: so many calls a second, evenly spaced. The time of a call counts from when it was
   * due, also where no thread was free then.
   */
  public static LoadResult open(
      List<Runnable> calls, Duration time, double perSecond, ThreadFactory threads) {
    long count = (long) (perSecond * time.toNanos() / 1e9);
    long begun = System.nanoTime();
    AtomicLong taken = new AtomicLong();
    return run(
        calls,
        threads,
        (call, times) -> {
          for (long n = taken.getAndIncrement(); n < count; n = taken.getAndIncrement()) {
            long due = begun + (long) (n * 1e9 / perSecond);
            for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
              LockSupport.parkNanos(left);
            }
            call.run();
            times.recordValue(Math.min(System.nanoTime() - due, NANOS_MAX));
          }
        });
  }

  private static LoadResult run(List<Runnable> calls, ThreadFactory threads, Loop loop) {
    Histogram all = new Histogram(NANOS_MAX, DIGITS);
    long begun = System.nanoTime();
    try (ExecutorService executor = Executors.newThreadPerTaskExecutor(threads)) {
      List<Future<Histogram>> running = new ArrayList<>();
      for (Runnable call : calls) {
        running.add(
            executor.submit(
                () -> {
                  Histogram times = new Histogram(NANOS_MAX, DIGITS);
                  loop.run(call, times);
                  return times;
                }));
      }
      for (Future<Histogram> one : running) {
        all.add(one.get());
      }
    } catch (ExecutionException failed) {
      throw new IllegalStateException("a call of a baseline failed", failed.getCause());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", stopped);
    }
    return new LoadResult(
        all.getTotalCount(),
        0,
        0,
        (System.nanoTime() - begun) / 1e9,
        all.getValueAtPercentile(50) / 1e6,
        all.getValueAtPercentile(99) / 1e6,
        List.of());
  }
}
