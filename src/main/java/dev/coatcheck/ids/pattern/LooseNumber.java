package dev.coatcheck.ids.pattern;

import java.util.regex.Pattern;

/**
 * What some program reads as an integer: a number with a sign, with blanks around it, in digits of
 * any script, with an exponent or underscores, in hexadecimal, octal or binary. A plus sign also
 * stands for a blank. What only begins with a number, such as {@code 42-a-title}, is none.
 */
public final class LooseNumber {
  private static final String BLANKS = "[+\\s\\p{Z}\\p{Cc}\\p{Cf}]*";

  /** Hexadecimal digits beyond 64 bits are no number but a hash. */
  private static final Pattern NUMBER =
      Pattern.compile(
          BLANKS
              + "[-\u2212\uFF0D]?(?:"
              + "\\p{Nd}+(?:[eE][+-]?\\p{Nd}+)?"
              + "|0[xX]0*[0-9A-Fa-f]{1,16}"
              + "|0[oO][0-7]+"
              + "|0[bB][01]+"
              + ")"
              + BLANKS);

  private LooseNumber() {}

  public static boolean is(String text) {
    return NUMBER.matcher(text.replace("_", "")).matches();
  }
}
