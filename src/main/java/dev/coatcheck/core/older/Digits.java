package dev.coatcheck.core.older;

import java.util.Arrays;
import java.util.OptionalLong;

/**
 * Positional notation of numbers in given characters, which stand for 0, 1, 2 and so on. Immutable.
 */
final class Digits {
  private static final int ASCII = 128;
  private static final byte NO_DIGIT = -1;

  /** The length of 2^63 - 1 in base 2. */
  private static final int LENGTH_MAX = 63;

  private final char[] characters;
  private final byte[] values = new byte[ASCII];

  /** Different ASCII characters; at least two, unless only single digits are used. */
  Digits(char[] characters) {
    this.characters = characters.clone();
    Arrays.fill(values, NO_DIGIT);
    for (int value = 0; value < characters.length; value++) {
      values[characters[value]] = (byte) value;
    }
  }

  int base() {
    return characters.length;
  }

  char of(int value) {
    return characters[value];
  }

  /** The value of a digit; negative for any other character. */
  int valueOf(char c) {
    return c < ASCII ? values[c] : NO_DIGIT;
  }

  char[] characters() {
    return characters.clone();
  }

  /** The number without leading zeros. */
  String write(long number) {
    char[] text = new char[LENGTH_MAX];
    int first = LENGTH_MAX;
    long left = number;
    do {
      first--;
      text[first] = characters[(int) (left % characters.length)];
      left /= characters.length;
    } while (left > 0);
    return new String(text, first, LENGTH_MAX - first);
  }

  /** Empty for other characters, for an empty text and for more than 2^63 - 1. */
  OptionalLong read(String text, int start, int end) {
    int base = characters.length;
    long shiftableMax = Long.MAX_VALUE / base;
    long number = 0;
    for (int i = start; i < end; i++) {
      int value = valueOf(text.charAt(i));
      if (value < 0 || number > shiftableMax) {
        return OptionalLong.empty();
      }
      number = number * base + value;
      if (number < 0) {
        return OptionalLong.empty();
      }
    }
    return start < end ? OptionalLong.of(number) : OptionalLong.empty();
  }

  static int lengthMax(int base) {
    int length = 0;
    for (long left = Long.MAX_VALUE; left > 0; left /= base) {
      length++;
    }
    return length;
  }
}
