package dev.coatcheck.ids.registry;

import java.util.OptionalLong;

/**
 * The auto-increment number of a row before its Snowflake key: 1 to 2^63 - 1, spelled in one way
 * only.
 */
public final class LegacyNumber {
  private static final int DIGITS_MAX = 19;

  private LegacyNumber() {}

  /** Accepts ASCII digits without sign or leading zero; empty for any other text. */
  public static OptionalLong parse(String text) {
    if (text.isEmpty() || text.length() > DIGITS_MAX || text.charAt(0) == '0') {
      return OptionalLong.empty();
    }
    long number = 0;
    for (int i = 0; i < text.length(); i++) {
      int digit = text.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return OptionalLong.empty();
      }
      number = number * 10 + digit;
    }
    // Nineteen digits fit into 64 bits without a sign: beyond 2^63 - 1 they look negative.
    return number > 0 ? OptionalLong.of(number) : OptionalLong.empty();
  }
}
