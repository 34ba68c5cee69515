package dev.coatcheck.core.key;

/** Draws new keys. Safe for any number of threads. */
public interface KeyGenerator {
  /** The most keys in one draw. */
  int COUNT_MAX = 16_384;

  /**
   * Draws {@code count} keys, 1 to {@link #COUNT_MAX}, in rising order. May wait up to 50 ms for
   * room before it refuses. In a layout whose ticks are longer, a draw that has some of its keys
   * waits for the next ticks too: 3 s at most in all, for ticks of a second.
   *
   * @throws IllegalArgumentException for a count out of range: callers check theirs first
   * @throws EndOfTimeException when the layout has no millisecond left
   */
  KeyDraw next(int count);

  /** The count itself, checked. */
  static int checked(int count) {
    if (count < 1 || count > COUNT_MAX) {
      throw new IllegalArgumentException("count " + count + " is not within 1.." + COUNT_MAX);
    }
    return count;
  }
}
