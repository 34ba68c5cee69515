package dev.coatcheck.app.demo;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Threads that repeat their work until they are told to stop. */
final class Workers implements AutoCloseable {
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean isStopping;

  /** Work that may be interrupted while it waits. */
  @FunctionalInterface
  interface Work {
    void once() throws InterruptedException;
  }

  void repeat(String name, Duration pause, Work work) {
    threads.add(Thread.ofVirtual().name(name).start(() -> repeat(pause, work)));
  }

  private void repeat(Duration pause, Work work) {
    try {
      while (!isStopping) {
        work.once();
        Thread.sleep(pause);
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits for the end of what is under way, so that nothing counts as failed by this. */
  @Override
  public void close() {
    isStopping = true;
    for (Thread thread : threads) {
      try {
        thread.join();
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
