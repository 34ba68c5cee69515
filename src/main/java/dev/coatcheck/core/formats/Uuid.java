package dev.coatcheck.core.formats;

import dev.coatcheck.core.formats.Reading.Candidate;
import dev.coatcheck.core.formats.Reading.Certainty;
import dev.coatcheck.core.formats.Reading.Flaw;
import dev.coatcheck.core.formats.Reading.Refusal;
import dev.coatcheck.core.formats.Reading.Reveal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * UUIDs of every variant and version, by RFC 9562.
 *
 * <pre>
 * 0              48   52       64  66                    128
 * |    high 48   |ver |high 12 |var|        62 bits       |
 * </pre>
 */
final class Uuid implements Format {
  private static final String NAME = "uuid";
  private static final Pattern SHAPE = Pattern.compile(".{8}-.{4}-.{4}-.{4}-.{12}");
  private static final int WIDTH = 128;
  private static final int DIGITS = 32;
  private static final BigInteger MAX = BigInteger.ONE.shiftLeft(WIDTH).subtract(BigInteger.ONE);

  /** From the start of the Gregorian calendar, 1582-10-15, to 1970, in units of 100 ns. */
  private static final long GREGORIAN_UNITS = 0x01B2_1DD2_1381_4000L;

  private static final long UNITS_PER_SECOND = 10_000_000;
  private static final int NANOS_PER_UNIT = 100;

  /**
   * The lowest bit of a node's first byte. It marks a node that is not a network card's address.
   */
  private static final int MULTICAST = 1;

  /** The versions with a time came into use later. */
  private static final Instant SINCE = Instant.parse("1990-01-01T00:00:00Z");

  @Override
  public List<Reading> read(String text, Instant now) {
    if (SHAPE.matcher(text).matches()) {
      String digits = text.replace("-", "").toLowerCase(Locale.ROOT);
      if (!Digits.HEX.spell(digits, DIGITS)) {
        return List.of(new Refusal(NAME, Flaw.ALPHABET, "The digits of a UUID are 0-9 and a-f."));
      }
      return List.of(read(Digits.HEX.value(digits), now));
    }
    String digits = text.toLowerCase(Locale.ROOT);
    if (!Digits.HEX.spell(digits, DIGITS)) {
      return List.of();
    }
    // Of the texts of 32 hexadecimal digits, only those with the version and variant of a UUID.
    return read(Digits.HEX.value(digits), now) instanceof Candidate found && hasVersion(found)
        ? List.of(found.that(Certainty.LIKELY))
        : List.of();
  }

  private static boolean hasVersion(Candidate found) {
    return found.format().startsWith(NAME + ".v");
  }

  static Reading read(BigInteger value, Instant now) {
    if (value.signum() == 0) {
      return Candidate.of(NAME + ".nil", Certainty.CERTAIN);
    }
    if (value.equals(MAX)) {
      return Candidate.of(NAME + ".max", Certainty.CERTAIN);
    }
    int variant = value.shiftRight(61).intValue() & 7;
    return switch (variant) {
      case 0, 1, 2, 3 -> Candidate.of(NAME + ".ncs", Certainty.POSSIBLE);
      case 4, 5 -> ofVersion((int) new Bits(value.shiftRight(76), 4).number(4), value, now);
      case 6 -> Candidate.of(NAME + ".microsoft", Certainty.POSSIBLE);
      default -> Candidate.of(NAME + ".future", Certainty.POSSIBLE);
    };
  }

  private static Reading ofVersion(int version, BigInteger value, Instant now) {
    Candidate bare = Candidate.of(NAME + ".v" + version, Certainty.CERTAIN);
    return switch (version) {
      case 1 -> gregorian(bare, value, now);
      case 2 -> security(bare, value);
      case 3, 4, 5, 8 -> bare;
      case 6 -> reordered(bare, value, now);
      case 7 -> unix(bare, value, now);
      default ->
          new Refusal(
              NAME,
              Flaw.VERSION,
              "A UUID of this variant has a version from 1 to 8, not " + version + '.');
    };
  }

  private static Candidate gregorian(Candidate bare, BigInteger value, Instant now) {
    Bits bits = new Bits(value, WIDTH);
    long low = bits.number(32);
    long middle = bits.number(16);
    bits.number(4);
    long units = bits.number(12) << 48 | middle << 32 | low;
    return node(timed(bare, time(units), now), bits);
  }

  private static Candidate reordered(Candidate bare, BigInteger value, Instant now) {
    Bits bits = new Bits(value, WIDTH);
    long high = bits.number(48);
    bits.number(4);
    long units = high << 12 | bits.number(12);
    return node(timed(bare, time(units), now), bits).sortable();
  }

  /** DCE security: an account replaces the low bits of the time and of the clock sequence. */
  private static Candidate security(Candidate bare, BigInteger value) {
    Bits bits = new Bits(value, WIDTH);
    long account = bits.number(32);
    long middle = bits.number(16);
    bits.number(4);
    long units = bits.number(12) << 48 | middle << 32;
    bits.number(2);
    long clock = bits.number(6);
    return address(
        bare.at(time(units))
            .revealing(Reveal.ACCOUNT)
            .with("local_account", account)
            .with("clock_sequence", clock)
            .with("local_domain", domain((int) bits.number(8))),
        bits.bytes(48));
  }

  private static Candidate unix(Candidate bare, BigInteger value, Instant now) {
    Bits bits = new Bits(value, WIDTH);
    return timed(bare, Instant.ofEpochMilli(bits.number(48)), now).sortable();
  }

  private static Candidate timed(Candidate bare, Instant time, Instant now) {
    return (Format.isPlausible(time, SINCE, now) ? bare : bare.that(Certainty.LIKELY)).at(time);
  }

  private static Instant time(long units) {
    long sinceUnix = units - GREGORIAN_UNITS;
    return Instant.ofEpochSecond(
        Math.floorDiv(sinceUnix, UNITS_PER_SECOND),
        Math.floorMod(sinceUnix, UNITS_PER_SECOND) * NANOS_PER_UNIT);
  }

  private static Candidate node(Candidate timed, Bits bits) {
    bits.number(2);
    return address(timed.with("clock_sequence", bits.number(14)), bits.bytes(48));
  }

  private static Candidate address(Candidate timed, byte[] node) {
    Candidate found = timed.with("node", HexFormat.ofDelimiter(":").formatHex(node));
    return (node[0] & MULTICAST) == 0
        ? found.revealing(Reveal.MACHINE_ADDRESS)
        : found.with("node_is_random", "true");
  }

  private static String domain(int number) {
    return switch (number) {
      case 0 -> "person";
      case 1 -> "group";
      case 2 -> "organization";
      default -> Integer.toString(number);
    };
  }
}
