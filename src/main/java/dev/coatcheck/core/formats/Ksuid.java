package dev.coatcheck.core.formats;

import dev.coatcheck.core.formats.Reading.Candidate;
import dev.coatcheck.core.formats.Reading.Flaw;
import dev.coatcheck.core.formats.Reading.Refusal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.List;

/**
 * KSUIDs: seconds since 2014-05-13T16:53:20Z in 32 bits, then 128 random bits, in base62.
 *
 * <p>Source: github.com/segmentio/ksuid. Their texts sort by time only in byte order.
 */
final class Ksuid implements Format {
  private static final String NAME = "ksuid";
  private static final int LENGTH = 27;
  private static final int WIDTH = 160;
  private static final long EPOCH_SECONDS = 1_400_000_000;
  private static final Instant SINCE = Instant.ofEpochSecond(EPOCH_SECONDS);

  @Override
  public List<Reading> read(String text, Instant now) {
    if (!Digits.BASE62.spell(text, LENGTH)) {
      return List.of();
    }
    BigInteger value = Digits.BASE62.value(text);
    if (value.bitLength() > WIDTH) {
      return List.of(
          new Refusal(
              NAME, Flaw.OVERFLOW, "160 bits end at the text aWgEPTl1tmebfsQzFP4bxwgy80V."));
    }
    Bits bits = new Bits(value, WIDTH);
    Instant time = Instant.ofEpochSecond(EPOCH_SECONDS + bits.number(32));
    return List.of(
        Candidate.of(NAME, Format.byTime(time, SINCE, now))
            .at(time)
            .with("payload", bits.hex(128))
            .sortable());
  }
}
