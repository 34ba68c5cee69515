package dev.coatcheck.core.formats;

import dev.coatcheck.core.formats.Reading.Candidate;
import dev.coatcheck.core.formats.Reading.Certainty;
import dev.coatcheck.core.formats.Reading.Flaw;
import dev.coatcheck.core.formats.Reading.Refusal;
import dev.coatcheck.core.formats.Reading.Reveal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.List;
import java.util.Locale;

/**
 * ULIDs, and Sandflakes, whose texts look the same.
 *
 * <pre>
 * 0               48                             128
 * | Unix millis   |           random              |  ULID
 * | Unix millis   | worker 32 | sequence 24 | random 24 |  Sandflake
 * </pre>
 *
 * Sources: the ULID specification (github.com/ulid/spec); github.com/celrenheit/sandflake.
 */
final class Ulid implements Format {
  private static final String NAME = "ulid";
  private static final int LENGTH = 26;
  private static final int WIDTH = 128;
  private static final Instant SINCE = Instant.parse("2000-01-01T00:00:00Z");

  @Override
  public List<Reading> read(String text, Instant now) {
    if (!Digits.BASE62.spell(text, LENGTH)) {
      return List.of(); // letters beyond ASCII may have capitals within it
    }
    boolean isCanonical = Digits.CROCKFORD.strangerAt(text) < 0;
    String digits = text.toUpperCase(Locale.ROOT);
    if (Digits.CROCKFORD.strangerAt(digits) >= 0) {
      return List.of(
          new Refusal(NAME, Flaw.ALPHABET, "A ULID has none of the letters I, L, O and U."));
    }
    BigInteger value = Digits.CROCKFORD.value(digits);
    if (value.bitLength() > WIDTH) {
      return List.of(new Refusal(NAME, Flaw.OVERFLOW, "128 bits begin with a digit from 0 to 7."));
    }
    Bits bits = new Bits(value, WIDTH);
    Instant time = Instant.ofEpochMilli(bits.number(48));
    Certainty certainty = isCanonical ? Format.byTime(time, SINCE, now) : Certainty.POSSIBLE;
    Candidate ulid = Candidate.of(NAME, certainty).at(time).with("random", bits.hex(80)).sortable();
    return isCanonical && Format.isPlausible(time, SINCE, now)
        ? List.of(ulid, sandflake(value))
        : List.of(ulid);
  }

  private static Candidate sandflake(BigInteger value) {
    Bits bits = new Bits(value, WIDTH);
    return Candidate.of("sandflake", Certainty.POSSIBLE)
        .at(Instant.ofEpochMilli(bits.number(48)))
        .with("worker", bits.hex(32))
        .with("sequence", bits.number(24))
        .with("random", bits.hex(24))
        .sortable()
        .revealing(Reveal.MACHINE, Reveal.VOLUME);
  }
}
