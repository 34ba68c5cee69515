package dev.coatcheck.core.observe;

/**
 * The guard of a loop in the background: a round that fails is counted and logged, and never ends
 * the loop. An executor would drop a periodic task whose round throws, without a word.
 */
public final class Background {
  private final String loop;
  private final Observer observer;

  /**
   * Guards one loop.
   *
   * @param loop its name in log and metrics
   */
  public Background(String loop, Observer observer) {
    this.loop = loop;
    this.observer = observer;
  }

  /** A failure that was observed where it happened, so that the guard has nothing to add. */
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

  /** Rounds for an executor. */
  public Runnable guarded(Runnable round) {
    return () -> {
      boolean _ = run(round);
    };
  }
}
