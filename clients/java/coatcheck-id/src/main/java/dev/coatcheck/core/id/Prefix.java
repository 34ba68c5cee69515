package dev.coatcheck.core.id;

import java.util.Optional;

/** The part of a public ID that names its type: {@code [a-z][a-z0-9]*(_[a-z0-9]+)*}, 32 at most. */
public record Prefix(String value) {
  private static final int LENGTH_MAX = 32;

  public Prefix {
    if (!isValid(value)) {
      throw new IllegalArgumentException("not a prefix, length=" + value.length());
    }
  }

  public static Optional<Prefix> parse(String text) {
    return isValid(text) ? Optional.of(new Prefix(text)) : Optional.empty();
  }

  public static boolean isValid(CharSequence text) {
    return offenceAt(text, text.length()) < 0;
  }

  /**
   * The index of the first of {@code end} characters that a prefix can't have there; {@code end} if
   * the prefix is incomplete; -1 if the characters are a prefix.
   */
  static int offenceAt(CharSequence text, int end) {
    boolean afterUnderscore = false;
    for (int i = 0; i < end; i++) {
      char c = text.charAt(i);
      boolean letter = c >= 'a' && c <= 'z';
      boolean digit = c >= '0' && c <= '9';
      boolean fits = letter || (i > 0 && (digit || (c == '_' && !afterUnderscore)));
      if (!fits || i == LENGTH_MAX) {
        return i;
      }
      afterUnderscore = c == '_';
    }
    return end == 0 || afterUnderscore ? end : -1;
  }

  @Override
  public String toString() {
    return value;
  }
}
