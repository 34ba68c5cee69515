package dev.coatcheck.core.formats;

import java.math.BigInteger;
import java.util.HexFormat;

/** Reads the fields of an ID one by one, highest bits first. */
final class Bits {
  private final BigInteger value;
  private int left;

  /** Starts at the highest of the lowest {@code width} bits of a number. */
  Bits(BigInteger value, int width) {
    this.value = value;
    this.left = width;
  }

  /** The next bits, at most 63, as a number. */
  long number(int bits) {
    return next(bits).longValueExact();
  }

  /** The next bits, whole bytes, as lower-case hexadecimal digits. */
  String hex(int bits) {
    return HexFormat.of().formatHex(bytes(bits));
  }

  /** The next bits, whole bytes. */
  byte[] bytes(int bits) {
    byte[] bytes = new byte[bits / Byte.SIZE];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) number(Byte.SIZE);
    }
    return bytes;
  }

  private BigInteger next(int bits) {
    left -= bits;
    return value.shiftRight(left).and(BigInteger.ONE.shiftLeft(bits).subtract(BigInteger.ONE));
  }
}
