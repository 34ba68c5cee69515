package dev.coatcheck.core.key;

import java.time.Duration;

/** Draws new keys that carry given times. Thread-safe. */
public interface DatedKeyGenerator {
  /** How far in the future a given time may be. Clocks differ, and a wrong year is refused. */
  Duration AHEAD_MAX = Duration.ofDays(1);

  /**
   * Draws a key for each of 1 to {@link KeyGenerator#COUNT_MAX} Unix milliseconds, all within the
   * time of the scheme. Milliseconds and keys are in rising order. The key at an index carries the
   * tick of the millisecond at that index, or the next tick that has a key left.
   *
   * @throws IllegalArgumentException if there are too many milliseconds or they are not in order
   */
  KeyOutcome at(long[] millis);

  /** Checks the argument of {@link #at}. */
  static void check(long[] millis) {
    int count = KeyGenerator.checked(millis.length);
    for (int i = 1; i < count; i++) {
      if (millis[i] < millis[i - 1]) {
        throw new IllegalArgumentException("milliseconds fall at index " + i);
      }
    }
  }
}
