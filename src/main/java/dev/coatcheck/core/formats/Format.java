package dev.coatcheck.core.formats;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** A format of IDs, or a family of formats that share a shape. */
interface Format {
  /** The tolerance for differing clocks. */
  Duration AHEAD_MAX = Duration.ofDays(1);

  /** What the text can be at this time; empty if it doesn't have the shape of the format. */
  List<Reading> read(String text, Instant now);

  /** Whether an ID may be from a time: not before its format existed, and not after today. */
  static boolean isPlausible(Instant time, Instant since, Instant now) {
    return !time.isBefore(since) && !time.isAfter(now.plus(AHEAD_MAX));
  }

  /** The certainty of a format that only an implausible time could contradict. */
  static Reading.Certainty byTime(Instant time, Instant since, Instant now) {
    return isPlausible(time, since, now) ? Reading.Certainty.LIKELY : Reading.Certainty.POSSIBLE;
  }
}
