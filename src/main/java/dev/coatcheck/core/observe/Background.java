package dev.coatcheck.core.observe;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Guards a background loop: a failed round is counted and logged, and the loop continues. An
 * executor would silently drop a periodic task whose round throws.
 */
public final class Background {
  private final String loop;
  private final Observer observer;

  /** Without a thread until rounds are asked for. */
  private final ScheduledExecutorService timer;

  /**
   * @param loop its name in the log and in metrics
   */
  public Background(String loop, Observer observer) {
    this.loop = loop;
    this.observer = observer;
    this.timer = timer(loop);
  }

  /** One daemon thread of that name, which runs rounds at their times. */
  public static ScheduledExecutorService timer(String thread) {
    return Executors.newSingleThreadScheduledExecutor(
        Thread.ofPlatform().daemon().name(thread).factory());
  }

  /** A failure that has already been observed, so that the guard does not report it again. */
  public interface Observed {}

  /**
   * Runs one round.
   *
   * @return whether the round succeeded
   */
  public boolean run(Runnable round) {
    try {
      round.run();
      return true;
    } catch (Throwable failed) {
      if (!(failed instanceof Observed)) {
        observer.observe(new Event.BackgroundFailed(loop, failed));
      }
      return false;
    }
  }

  /** Runs a round after each pause, on a daemon thread of the loop's name. */
  public void every(Duration pause, Runnable round) {
    every(pause, pause, round);
  }

  /** As above, with another time before the first round. */
  public void every(Duration first, Duration pause, Runnable round) {
    var _ =
        timer.scheduleWithFixedDelay(
            () -> {
              boolean _ = run(round);
            },
            first.toNanos(),
            pause.toNanos(),
            TimeUnit.NANOSECONDS);
  }

  /** Breaks off a running round, and no other one begins. */
  public void stop() {
    timer.shutdownNow();
  }
}
