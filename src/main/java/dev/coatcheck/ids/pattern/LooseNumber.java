package dev.coatcheck.ids.pattern;

import java.util.regex.Pattern;

/**
 * What some program reads as an integer: a number with a sign, with blanks in it or around it, in
 * digits of any script, with an exponent, underscores or a suffix of its type, in hexadecimal,
 * octal or binary. A plus sign also stands for a blank. What only begins with a number, such as
 * {@code 42-a-title}, is none.
 */
public final class LooseNumber {
  /** A hexadecimal digit as Java and Spring read it. */
  static final String HEX = "[\\p{Nd}A-Fa-f\uFF21-\uFF26\uFF41-\uFF46]";

  private static final Pattern BLANKS = Pattern.compile("[+_\\s\\p{Z}\\p{Cc}\\p{Cf}]+");

  /** Hexadecimal digits beyond 64 bits are no number but a hash. */
  private static final Pattern NUMBER =
      Pattern.compile(
          "[-\u2212\uFF0D]?(?:"
              + "\\.?\\p{Nd}+(?:[eE]-?\\p{Nd}+)?[dDfFlLnN]?"
              + "|(?:0[xX]|#)0*%s{1,16}(?:[lLnN]|[pP]-?\\p{Nd}+[dDfF]?)?".formatted(HEX)
              + "|0[oO][0-7]+"
              + "|0[bB][01]+"
              + ")");

  private LooseNumber() {}

  public static boolean is(String text) {
    return NUMBER.matcher(withoutBlanks(text)).matches();
  }

  /** A text without what programs skip in numbers. */
  static String withoutBlanks(String text) {
    return BLANKS.matcher(text).replaceAll("");
  }
}
