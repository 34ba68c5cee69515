package dev.coatcheck.migrate.run;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Threads of an application that never stop writing until they are told to. */
public final class Writers implements AutoCloseable {
  /** What no operation asked for. */
  public final Queue<String> errors = new ConcurrentLinkedQueue<>();

  private final AtomicLong operations = new AtomicLong();
  private final AtomicLong longestNanos = new AtomicLong();
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean stopped;

  /** Something that a thread does. */
  public interface Work {
    void run() throws Exception;
  }

  /** Does this again and again, in a thread of its own. */
  public void start(Work again) {
    threads.add(
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    while (!stopped) {
                      again.run();
                    }
                  } catch (Exception | AssertionError broken) {
                    errors.add(broken.toString());
                  }
                }));
  }

  /** Counts and times an operation. */
  public void operate(Work operation) throws Exception {
    long began = System.nanoTime();
    operation.run();
    longestNanos.accumulateAndGet(System.nanoTime() - began, Math::max);
    operations.incrementAndGet();
  }

  public boolean isStopped() {
    return stopped;
  }

  public long operations() {
    return operations.get();
  }

  /** Since the last call. */
  public long longestMillis() {
    return TimeUnit.NANOSECONDS.toMillis(longestNanos.getAndSet(0));
  }

  /** Returns when the last operation is through. */
  public void stop() {
    stopped = true;
    for (Thread thread : threads) {
      try {
        thread.join();
      } catch (InterruptedException hurried) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public void close() {
    stop();
  }
}
