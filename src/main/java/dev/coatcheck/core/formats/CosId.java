package dev.coatcheck.core.formats;

import dev.coatcheck.core.formats.Reading.Candidate;
import dev.coatcheck.core.formats.Reading.Certainty;
import dev.coatcheck.core.formats.Reading.Reveal;
import java.time.Instant;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The texts of CosId: three fields of fixed width in base 62, or the friendly form: a local time,
 * the machine and the sequence.
 *
 * <p>Source: github.com/Ahoo-Wang/CosId.
 */
final class CosId implements Format {
  private static final int LENGTH = 15;
  private static final int TIME_END = 8;
  private static final int MACHINE_END = 12;
  private static final int TIME_BITS = 44;
  private static final int MACHINE_BITS = 20;
  private static final int SEQUENCE_BITS = 16;
  private static final Instant SINCE = Instant.parse("2019-12-24T16:00:00Z");
  private static final Pattern FRIENDLY =
      Pattern.compile("((?:19|20)[0-9]{15})-(0|[1-9][0-9]{0,6})-(0|[1-9][0-9]{0,6})");

  @Override
  public List<Reading> read(String text, Instant now) {
    Matcher friendly = FRIENDLY.matcher(text);
    if (friendly.matches()) {
      return List.of(
          machined(
              Candidate.of("cosid.friendly", Certainty.LIKELY)
                  .with("local_time", friendly.group(1))
                  .revealing(Reveal.CREATION_TIME),
              Long.parseLong(friendly.group(2)),
              Long.parseLong(friendly.group(3))));
    }
    if (!Digits.BASE62.spell(text, LENGTH)) {
      return List.of();
    }
    long millis = Digits.BASE62.value(text.substring(0, TIME_END)).longValueExact();
    long machine = Digits.BASE62.value(text.substring(TIME_END, MACHINE_END)).longValueExact();
    long sequence = Digits.BASE62.value(text.substring(MACHINE_END)).longValueExact();
    Instant time = Instant.ofEpochMilli(millis);
    if (millis >> TIME_BITS != 0
        || machine >> MACHINE_BITS != 0
        || sequence >> SEQUENCE_BITS != 0
        || !Format.isPlausible(time, SINCE, now)) {
      return List.of();
    }
    return List.of(machined(Candidate.of("cosid", Certainty.LIKELY).at(time), machine, sequence));
  }

  private static Candidate machined(Candidate timed, long machine, long sequence) {
    return timed
        .with("machine", machine)
        .with("sequence", sequence)
        .sortable()
        .revealing(Reveal.MACHINE, Reveal.VOLUME);
  }
}
