package dev.coatcheck.core.scheme;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The state of a generator. A new generator that continues from it repeats no ID.
 *
 * @param tick of the last ID; -1 before the first
 * @param sequence of the last ID
 * @param isTock of the last ID
 * @param usedUpTo the highest tick that was used with the other value of the tick-tock bit
 * @param stepsBack how often the clock stepped back
 */
public record SnoSnapshot(
    SnoShare share, long tick, int sequence, boolean isTock, long usedUpTo, long stepsBack) {
  private static final Pattern END =
      Pattern.compile(
          " tick=(?<tick>-1|[0-9]{1,12}) sequence=(?<sequence>[0-9]{1,5})"
              + " tock=(?<tock>true|false) used_up_to=(?<used>-1|[0-9]{1,12})"
              + " steps_back=(?<steps>[0-9]{1,18})");

  public SnoSnapshot {
    if (sequence < share.sequences().first() || sequence > share.sequences().last()) {
      throw new IllegalArgumentException(
          "sequence %d is not within %s".formatted(sequence, share.sequences()));
    }
    if (Math.max(tick, usedUpTo) >= SnoId.TICK_END || Math.min(tick, usedUpTo) < -1) {
      throw new IllegalArgumentException("ticks %d and %d".formatted(tick, usedUpTo));
    }
  }

  public static SnoSnapshot fresh(SnoShare share) {
    return new SnoSnapshot(share, -1, share.sequences().last(), false, -1, 0);
  }

  /** Parses what {@link #toString} returns. */
  public static Optional<SnoSnapshot> parse(String text) {
    return SnoShare.startOf(text)
        .filter(share -> text.startsWith(share.toString()))
        .flatMap(share -> ending(share, text.substring(share.toString().length())));
  }

  private static Optional<SnoSnapshot> ending(SnoShare share, String text) {
    Matcher parts = END.matcher(text);
    if (!parts.matches()) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          new SnoSnapshot(
              share,
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
    return "%s tick=%d sequence=%d tock=%s used_up_to=%d steps_back=%d"
        .formatted(share, tick, sequence, isTock, usedUpTo, stepsBack);
  }
}
