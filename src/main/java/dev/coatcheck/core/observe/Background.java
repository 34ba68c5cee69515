package dev.coatcheck.core.observe;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

/**
 * Guards a background loop: a failed round is counted and logged, and the loop continues. An
 * executor would silently drop a periodic task whose round throws.
 */
public final class Background {
  private final String loop;
  private final Observer observer;

  /**
   * @param loop its name in the log and in metrics
   */
  public Background(String loop, Observer observer) {
    this.loop = loop;
    this.observer = observer;
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

  public Runnable guarded(Runnable round) {
    return () -> {
      boolean _ = run(round);
    };
  }
}
