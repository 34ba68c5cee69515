package dev.coatcheck.core.formats;

import dev.coatcheck.core.formats.Reading.Candidate;
import dev.coatcheck.core.formats.Reading.Certainty;
import dev.coatcheck.core.formats.Reading.Reveal;
import java.time.Instant;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Cuid: a c, then Unix milliseconds, a counter, a fingerprint of the host and random digits, in
 * base 36. Cuid2: a hash of all these, which reveals nothing.
 *
 * <p>Sources: github.com/paralleldrive/cuid and cuid2.
 */
final class Cuid implements Format {
  private static final int LENGTH = 25;
  private static final int TIME_END = 9;
  private static final int COUNTER_END = 13;
  private static final int HOST_END = 17;
  private static final Instant SINCE = Instant.parse("2012-01-01T00:00:00Z");

  /**
   * A letter, then by default 23 characters. Other lengths need a digit, so that words don't match.
   */
  private static final Pattern SECOND =
      Pattern.compile("(?=.*[0-9])[a-z][0-9a-z]{9,31}|[a-z][0-9a-z]{23}");

  @Override
  public List<Reading> read(String text, Instant now) {
    if (!Digits.BASE36.spell(text, LENGTH) || text.charAt(0) != 'c') {
      return List.of();
    }
    Instant time =
        Instant.ofEpochMilli(Digits.BASE36.value(text.substring(1, TIME_END)).longValueExact());
    return List.of(
        Candidate.of("cuid", Format.byTime(time, SINCE, now))
            .at(time)
            .with(
                "counter",
                Digits.BASE36.value(text.substring(TIME_END, COUNTER_END)).longValueExact())
            .with("host", text.substring(COUNTER_END, HOST_END))
            .with("random", text.substring(HOST_END))
            .sortable()
            .revealing(Reveal.VOLUME, Reveal.MACHINE));
  }

  /**
   * A cuid2 has no marks and many texts look like it, so it is named only if no other format fits.
   */
  static List<Candidate> second(String text) {
    return SECOND.matcher(text).matches()
        ? List.of(Candidate.of("cuid2", Certainty.POSSIBLE))
        : List.of();
  }
}
