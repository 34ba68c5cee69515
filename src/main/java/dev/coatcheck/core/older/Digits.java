package dev.coatcheck.core.older;

import java.util.OptionalLong;

/** Numbers in the positional notation of some characters, which stand for 0, 1, 2 and so on. */
final class Digits {
  private Digits() {}

  /** The number, without leading zeros. */
  static String write(long number, char[] digits) {
    StringBuilder reversed = new StringBuilder();
    long left = number;
    do {
      reversed.append(digits[(int) (left % digits.length)]);
      left /= digits.length;
    } while (left > 0);
    return reversed.reverse().toString();
  }

  /** Empty for other characters, for no characters at all and for more than 2^63 - 1. */
  static OptionalLong read(String text, int start, int end, char[] digits) {
    long number = 0;
    for (int i = start; i < end; i++) {
      int value = indexOf(digits, text.charAt(i));
      if (value < 0 || number > (Long.MAX_VALUE - value) / digits.length) {
        return OptionalLong.empty();
      }
      number = number * digits.length + value;
    }
    return start < end ? OptionalLong.of(number) : OptionalLong.empty();
  }

  /** How many digits 2^63 - 1 has. */
  static int lengthMax(int base) {
    int length = 0;
    for (long left = Long.MAX_VALUE; left > 0; left /= base) {
      length++;
    }
    return length;
  }

  static int indexOf(char[] characters, char c) {
    for (int i = 0; i < characters.length; i++) {
      if (characters[i] == c) {
        return i;
      }
    }
    return -1;
  }
}
