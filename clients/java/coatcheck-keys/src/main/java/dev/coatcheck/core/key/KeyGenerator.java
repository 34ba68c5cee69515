package dev.coatcheck.core.key;

/** Draws new keys. Thread-safe. */
public interface KeyGenerator {
  /** The most keys per draw. */
  int COUNT_MAX = 16_384;

  /**
   * Draws {@code count} keys, 1 to {@link #COUNT_MAX}, in rising order. Waits up to 50 ms for the
   * first key, then refuses. If the ticks of a layout are longer, a draw that already has some of
   * its keys also waits for the next ticks, in total 3 s at most for ticks of a second.
   *
   * @throws IllegalArgumentException if the count is out of range; callers check it first
   * @throws IllegalStateException if the layout has no millisecond left
   */
  KeyOutcome next(int count);

  static int checked(int count) {
    if (count < 1 || count > COUNT_MAX) {
      throw new IllegalArgumentException("count " + count + " is not within 1.." + COUNT_MAX);
    }
    return count;
  }
}
