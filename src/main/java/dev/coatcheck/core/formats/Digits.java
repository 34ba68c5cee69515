package dev.coatcheck.core.formats;

import java.math.BigInteger;

/** The digits of a number in some base, the smallest first. Nothing is folded or skipped. */
record Digits(String alphabet) {
  private static final String TEN = "0123456789";
  private static final String CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

  static final Digits DECIMAL = new Digits(TEN);
  static final Digits HEX = new Digits(TEN + "abcdef");
  static final Digits BASE32_HEX = new Digits(TEN + "abcdefghijklmnopqrstuv");
  static final Digits BASE36 = new Digits(TEN + "abcdefghijklmnopqrstuvwxyz");
  static final Digits BASE62 = new Digits(TEN + CAPITALS + "abcdefghijklmnopqrstuvwxyz");

  /** Without the letters that look like digits, and without U. */
  static final Digits CROCKFORD = new Digits(TEN + "ABCDEFGHJKMNPQRSTVWXYZ");

  static final Digits CROCKFORD_LOWER = new Digits(TEN + "abcdefghjkmnpqrstvwxyz");

  /** Whether the text has this length and consists of digits only. */
  boolean spell(String text, int length) {
    return text.length() == length && strangerAt(text) < 0;
  }

  /** The index of the first character that is not a digit, or -1. */
  int strangerAt(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (alphabet.indexOf(text.charAt(i)) < 0) {
        return i;
      }
    }
    return -1;
  }

  /** The number of a text of digits, the highest digit first. */
  BigInteger value(String text) {
    BigInteger base = BigInteger.valueOf(alphabet.length());
    BigInteger value = BigInteger.ZERO;
    for (int i = 0; i < text.length(); i++) {
      value = value.multiply(base).add(BigInteger.valueOf(alphabet.indexOf(text.charAt(i))));
    }
    return value;
  }
}
