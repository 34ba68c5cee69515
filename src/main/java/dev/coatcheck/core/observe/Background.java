package dev.coatcheck.core.observe;

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
