package dev.coatcheck.core.key;

/**
 * What a generator on the wall clock does when that clock steps back: up to {@code waitMillisMax}
 * it waits, up to {@code logicalMillisMax} it goes on from its last position on a logical clock,
 * and beyond that it refuses and names the size of the step.
 */
public record ClockPolicy(long waitMillisMax, long logicalMillisMax) {
  /** 5 ms is ordinary slewing, 2 s a leap or a bad NTP step; more needs a person. */
  public static final ClockPolicy THREE_TIERS = new ClockPolicy(5, 2_000);

  public ClockPolicy {
    if (waitMillisMax < 2 || logicalMillisMax < waitMillisMax) {
      throw new IllegalArgumentException(
          "2 <= waitMillisMax %d <= logicalMillisMax %d does not hold"
              .formatted(waitMillisMax, logicalMillisMax));
    }
  }
}
