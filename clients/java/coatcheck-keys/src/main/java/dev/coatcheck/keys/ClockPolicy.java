package dev.coatcheck.keys;

import java.time.Duration;
import java.util.Objects;

/**
 * What a standalone generator does when the machine's clock is behind the last key.
 *
 * <table>
 * <caption>By how far the clock is behind</caption>
 * <tr><th>step back</th><th>what happens</th></tr>
 * <tr><td>up to {@code waitMax}</td><td>the caller waits until the clock has caught up</td></tr>
 * <tr><td>up to {@code logicalMax}</td><td>keys go on from the last one, on a logical clock that
 * runs at half speed until the clock has caught up</td></tr>
 * <tr><td>more</td><td>{@link KeysUnavailableException}, with the size of the step</td></tr>
 * </table>
 *
 * @param name for messages
 * @param waitMax to the millisecond, zero or more
 * @param logicalMax to the millisecond, {@code waitMax} or more; an hour at most
 */
public record ClockPolicy(String name, Duration waitMax, Duration logicalMax) {
  private static final Duration LIMIT = Duration.ofHours(1);

  /** Waits for 5 ms, goes on for 2 s, refuses beyond. */
  public static final ClockPolicy TIERED =
      new ClockPolicy("tiered", Duration.ofMillis(5), Duration.ofSeconds(2));

  /** Refuses as soon as the clock is behind. */
  public static final ClockPolicy STRICT = new ClockPolicy("strict", Duration.ZERO, Duration.ZERO);

  /**
   * @throws IllegalArgumentException if a duration is out of its range
   */
  public ClockPolicy {
    Objects.requireNonNull(name);
    if (waitMax.isNegative() || logicalMax.compareTo(waitMax) < 0) {
      throw new IllegalArgumentException(
          "a clock policy needs 0 <= waitMax <= logicalMax, not %s and %s"
              .formatted(waitMax, logicalMax));
    }
    if (logicalMax.compareTo(LIMIT) > 0) {
      throw new IllegalArgumentException("logicalMax is an hour at most, not " + logicalMax);
    }
  }
}
