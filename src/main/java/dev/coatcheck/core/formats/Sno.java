package dev.coatcheck.core.formats;

import dev.coatcheck.core.formats.Reading.Candidate;
import dev.coatcheck.core.formats.Reading.Reveal;
import java.time.Instant;
import java.util.List;

/**
 * Snos: ten bytes, of which a digit spells five bits.
 *
 * <pre>
 * 0                  39 40       48           64          80
 * | 4 ms since 2010  |t | metabyte | partition | sequence |
 * </pre>
 *
 * The bit {@code t} changes whenever the clock of a generator went back. Source:
 * github.com/muyo/sno.
 */
final class Sno implements Format {
  private static final int LENGTH = 16;
  private static final int WIDTH = 80;
  private static final int MILLIS_PER_UNIT = 4;
  private static final Instant EPOCH = Instant.parse("2010-01-01T00:00:00Z");

  @Override
  public List<Reading> read(String text, Instant now) {
    if (!Digits.SNO.spell(text, LENGTH)) {
      return List.of();
    }
    Bits bits = new Bits(Digits.SNO.value(text), WIDTH);
    Instant time = EPOCH.plusMillis(MILLIS_PER_UNIT * bits.number(39));
    return List.of(
        Candidate.of("sno", Format.byTime(time, EPOCH, now))
            .at(time)
            .with("tick_tock", bits.number(1))
            .with("metabyte", bits.number(8))
            .with("partition", bits.number(16))
            .with("sequence", bits.number(16))
            .sortable()
            .revealing(Reveal.MACHINE)
            .revealing(Reveal.VOLUME));
  }
}
