package dev.coatcheck.core.scheme;

import dev.coatcheck.core.scheme.SequenceRanges.Range;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The state of a generator: a new one that begins with it makes no ID again.
 *
 * @param tick of the last ID; -1 before the first
 * @param sequence of the last ID
 * @param isTock of the last ID
 * @param usedUpTo the highest tick that was used with the other value of the tick-tock bit
 * @param stepsBack how often the clock went back
 */
public record SnoSnapshot(
    int partition,
    Range sequences,
    long tick,
    int sequence,
    boolean isTock,
    long usedUpTo,
    long stepsBack) {
  private static final Pattern TEXT =
      Pattern.compile(
          "partition=(?<partition>[0-9]{1,5}) sequences=(?<first>[0-9]{1,5})-(?<last>[0-9]{1,5})"
              + " tick=(?<tick>-1|[0-9]{1,12}) sequence=(?<sequence>[0-9]{1,5})"
              + " tock=(?<tock>true|false) used_up_to=(?<used>-1|[0-9]{1,12})"
              + " steps_back=(?<steps>[0-9]{1,18})");

  /** Of a generator that has made nothing yet. */
  public static SnoSnapshot fresh(int partition, Range sequences) {
    return new SnoSnapshot(partition, sequences, -1, sequences.last(), false, -1, 0);
  }

  /** Reads what {@link #toString} gives. */
  public static Optional<SnoSnapshot> parse(String text) {
    Matcher parts = TEXT.matcher(text);
    if (!parts.matches()) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          new SnoSnapshot(
              Integer.parseInt(parts.group("partition")),
              new Range(
                  Integer.parseInt(parts.group("first")), Integer.parseInt(parts.group("last"))),
              Long.parseLong(parts.group("tick")),
              Integer.parseInt(parts.group("sequence")),
              Boolean.parseBoolean(parts.group("tock")),
              Long.parseLong(parts.group("used")),
              Long.parseLong(parts.group("steps"))));
    } catch (IllegalArgumentException outOfRange) {
      return Optional.empty();
    }
  }

  @Override
  public String toString() {
    return "partition=%d sequences=%s tick=%d sequence=%d tock=%s used_up_to=%d steps_back=%d"
        .formatted(partition, sequences, tick, sequence, isTock, usedUpTo, stepsBack);
  }
}
