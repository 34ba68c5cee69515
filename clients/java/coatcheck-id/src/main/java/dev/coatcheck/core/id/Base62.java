package dev.coatcheck.core.id;

import java.nio.charset.StandardCharsets;

/**
 * Base62 in byte order, {@code 0-9A-Za-z}. 128 bits are 22 characters: the unsigned big-endian
 * number, padded on the left with {@code 0}. So text order is numeric order.
 *
 * <h2>Arithmetic</h2>
 *
 * Two longs hold the 128 bits, because BigInteger takes seven times as long. 62^10 is the greatest
 * power of 62 that fits in a long. Encoding divides by it twice, which leaves 2, 10 and 10 digits,
 * and takes those in pairs from a table. The divisor is constant, so each division is a
 * multiplication by its reciprocal and a correction (N. Möller and T. Granlund, Improved division
 * by invariant integers, algorithm 4). Decoding joins 8, 8 and 6 digits.
 */
public final class Base62 {
  /** The 62 characters, in their order. */
  public static final String ALPHABET =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

  /** The two characters of each number below 62², the first in the upper byte. */
  private static final char[] PAIRS = pairs();

  private static final boolean[] IS_BASE62 = members();

  private static final int POWER_2 = 3844;
  private static final int POWER_4 = 14_776_336;
  private static final long POWER_6 = 56_800_235_584L;
  private static final long POWER_8 = 218_340_105_584_896L;
  private static final long POWER_10 = 839_299_365_868_340_224L;

  /** 62^10, shifted so that its top bit is set, and (2^128 - 1) / DIVISOR - 2^64. */
  private static final long DIVISOR = POWER_10 << 4;

  private static final long RECIPROCAL = 6_893_020_016_967_578_277L;

  private Base62() {}

  /** By a table: whether the next random character is a digit or a letter can't be predicted. */
  public static boolean isBase62(char c) {
    return c < IS_BASE62.length && IS_BASE62[c];
  }

  /** Encodes a 128-bit number as 22 characters. */
  public static String encode(long high, long low) {
    byte[] text = new byte[EncodedPayload.LENGTH];
    spell(high, low).write(text, 0);
    return new String(text, 0, EncodedPayload.PAYLOAD_LENGTH, StandardCharsets.ISO_8859_1);
  }

  /** Encodes a 128-bit number; the check characters are still 0 bytes. */
  static EncodedPayload spell(long high, long low) {
    // 62^10 is a multiple of 2^10. After the shift the number has no sign bit.
    long quotientHigh = (high >>> 10) / (POWER_10 >>> 10);
    long quotientLow = divide(high - quotientHigh * POWER_10, low);
    long bottom = low - quotientLow * POWER_10;
    long top = divide(quotientHigh, quotientLow);
    long middle = quotientLow - top * POWER_10;
    long middleUpper = middle / POWER_4;
    int middleTop = (int) (middleUpper / POWER_4);
    long bottomUpper = bottom / POWER_4;
    int bottomTop = (int) (bottomUpper / POWER_4);
    long middleFour = four(middleUpper - (long) middleTop * POWER_4);
    long bottomFour = four(bottomUpper - (long) bottomTop * POWER_4);
    return new EncodedPayload(
        pair((int) top) << 48 | pair(middleTop) << 32 | middleFour,
        four(middle - middleUpper * POWER_4) << 32 | pair(bottomTop) << 16 | bottomFour >>> 16,
        bottomFour << 48 | four(bottom - bottomUpper * POWER_4) << 16);
  }

  /** Decodes a payload. The caller has checked that it is base62 and does not overflow. */
  static Token token(EncodedPayload body) {
    long first = PackedChars.value(body.first());
    long low = first * POWER_8 + PackedChars.value(body.second());
    long high = Math.multiplyHigh(first, POWER_8) + carry(low, first * POWER_8);
    long product = low * POWER_6;
    high = high * POWER_6 + multiplyHigh(low, POWER_6);
    low = product + PackedChars.value(body.third()) / POWER_2;
    return new Token(high + carry(low, product), low);
  }

  /** The two characters of a number below 62². */
  static long pair(int number) {
    return PAIRS[number];
  }

  /** The four characters of a number below 62^4. */
  private static long four(long number) {
    int upper = (int) number / POWER_2;
    return pair(upper) << 16 | pair((int) number - upper * POWER_2);
  }

  /** {@code (high · 2^64 + low) / 62^10} for a high word below 62^10. */
  private static long divide(long high, long low) {
    long shiftedHigh = high << 4 | low >>> 60;
    long shiftedLow = low << 4;
    long fraction = RECIPROCAL * shiftedHigh + shiftedLow;
    long quotient =
        multiplyHigh(shiftedHigh, RECIPROCAL) + shiftedHigh + carry(fraction, shiftedLow) + 1;
    long remainder = shiftedLow - quotient * DIVISOR;
    if (Long.compareUnsigned(remainder, fraction) > 0) {
      quotient--;
      remainder += DIVISOR;
    }
    return Long.compareUnsigned(remainder, DIVISOR) >= 0 ? quotient + 1 : quotient;
  }

  /**
   * The upper half of the unsigned product; {@code Math.unsignedMultiplyHigh} came with Java 18.
   */
  private static long multiplyHigh(long any, long positive) {
    return Math.multiplyHigh(any, positive) + (any >> 63 & positive);
  }

  private static long carry(long sum, long addend) {
    return Long.compareUnsigned(sum, addend) < 0 ? 1 : 0;
  }

  private static boolean[] members() {
    boolean[] members = new boolean[1 << 7];
    ALPHABET.chars().forEach(c -> members[c] = true);
    return members;
  }

  private static char[] pairs() {
    char[] pairs = new char[62 * 62];
    for (int i = 0; i < pairs.length; i++) {
      pairs[i] = (char) (ALPHABET.charAt(i / 62) << 8 | ALPHABET.charAt(i % 62));
    }
    return pairs;
  }
}
