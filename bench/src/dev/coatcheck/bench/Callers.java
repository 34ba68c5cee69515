package dev.coatcheck.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;

/** Threads in a closed loop: each calls again once its last call returned. */
final class Callers {
  private Callers() {}

  /** Keeps every call busy on a thread of its own; the last ones are waited for. */
  static Pace run(List<Runnable> calls, Duration time, ThreadFactory threads) {
    Pace.Times all = new Pace.Times();
    long begun = System.nanoTime();
    long end = begun + time.toNanos();
    try (ExecutorService executor = Executors.newThreadPerTaskExecutor(threads)) {
      List<Future<Pace.Times>> running = new ArrayList<>();
      for (Runnable call : calls) {
        running.add(executor.submit(() -> loop(call, end)));
      }
      for (Future<Pace.Times> one : running) {
        all.add(one.get());
      }
    } catch (ExecutionException failed) {
      throw new IllegalStateException("a call of a baseline failed", failed.getCause());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", stopped);
    }
    return all.over(Duration.ofNanos(System.nanoTime() - begun));
  }

  private static Pace.Times loop(Runnable call, long end) {
    Pace.Times times = new Pace.Times();
    for (long begun = System.nanoTime(); begun - end < 0; ) {
      call.run();
      long done = System.nanoTime();
      times.took(done - begun);
      begun = done;
    }
    return times;
  }
}
