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
 * ObjectIds of MongoDB, and xids, which are modelled on them.
 *
 * <pre>
 * | Unix seconds 32 | random 40               | counter 24 |  ObjectId, 24 hexadecimal digits
 * | Unix seconds 32 | machine 24 | process 16 | counter 24 |  xid, 20 digits of base 32
 * </pre>
 *
 * Sources: the specification of ObjectIds (github.com/mongodb/specifications), in which the seconds
 * are unsigned; github.com/rs/xid.
 */
final class TwelveBytes implements Format {
  private static final String OBJECT_ID = "objectid";
  private static final String XID = "xid";
  private static final int WIDTH = 96;
  private static final int HEX_LENGTH = 24;
  private static final int XID_LENGTH = 20;

  /** 20 digits of 5 bits hold 100 bits. */
  private static final int XID_PADDING = 4;

  private static final Instant OBJECT_IDS_SINCE = Instant.parse("2007-01-01T00:00:00Z");
  private static final Instant XIDS_SINCE = Instant.parse("2010-01-01T00:00:00Z");

  @Override
  public List<Reading> read(String text, Instant now) {
    String digits = text.toLowerCase(Locale.ROOT);
    if (Digits.HEX.spell(digits, HEX_LENGTH)) {
      BigInteger value = Digits.HEX.value(digits);
      Candidate objectId = objectId(value, now);
      return objectId.certainty() == Certainty.LIKELY
          ? List.of(objectId, xid(value, now).that(Certainty.POSSIBLE))
          : List.of(objectId);
    }
    return Digits.BASE32_HEX.spell(text, XID_LENGTH) ? List.of(padded(text, now)) : List.of();
  }

  private static Reading padded(String text, Instant now) {
    BigInteger value = Digits.BASE32_HEX.value(text);
    return value.intValue() % (1 << XID_PADDING) != 0
        ? new Refusal(XID, Flaw.PADDING, "The last digit of an xid is 0 or g.")
        : xid(value.shiftRight(XID_PADDING), now);
  }

  private static Candidate objectId(BigInteger value, Instant now) {
    Bits bits = new Bits(value, WIDTH);
    Instant time = Instant.ofEpochSecond(bits.number(32));
    return Candidate.of(OBJECT_ID, Format.byTime(time, OBJECT_IDS_SINCE, now))
        .at(time)
        .with("random", bits.hex(40))
        .with("counter", bits.hex(24))
        .sortable()
        .revealing(Reveal.VOLUME);
  }

  private static Candidate xid(BigInteger value, Instant now) {
    Bits bits = new Bits(value, WIDTH);
    Instant time = Instant.ofEpochSecond(bits.number(32));
    return Candidate.of(XID, Format.byTime(time, XIDS_SINCE, now))
        .at(time)
        .with("machine", bits.hex(24))
        .with("process", bits.number(16))
        .with("counter", bits.number(24))
        .sortable()
        .revealing(Reveal.MACHINE, Reveal.PROCESS, Reveal.VOLUME);
  }
}
