package dev.coatcheck.core.key;

import java.time.Duration;

/** Draws new keys that carry given times. Safe for any number of threads. */
public interface DatedKeys {
  /** How far in the future such a time may lie: clocks differ, and a wrong year is refused. */
  Duration AHEAD_MAX = Duration.ofDays(1);

  /**
   * Draws a key for each of 1 to {@link KeyGenerator#COUNT_MAX} Unix milliseconds, all within the
   * time of the scheme. Both are in rising order, and the key at an index carries the tick of the
   * millisecond at that index, or the next ones where that has no key left.
   *
   * @throws IllegalArgumentException if the milliseconds are too many or not in order
   */
  KeyDraw at(long[] millis);

  /** Refuses what {@link #at} does not take. */
  static void check(long[] millis) {
    int count = KeyGenerator.checked(millis.length);
    for (int i = 1; i < count; i++) {
      if (millis[i] < millis[i - 1]) {
        throw new IllegalArgumentException("milliseconds fall at index " + i);
      }
    }
  }
}
