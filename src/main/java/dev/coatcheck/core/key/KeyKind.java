package dev.coatcheck.core.key;

import dev.coatcheck.core.name.WireNamed;
import java.util.Optional;

/** The kind of a type's keys, which is also the type of their column. */
public enum KeyKind implements WireNamed {
  /** 0 to 2^63 − 1. */
  BIGINT,
  /** A UUID of any version. */
  UUID;

  private static final int BIGINT_DIGITS_MAX = 19;
  private static final int UUID_LENGTH = 36;

  /**
   * Parses the canonical spelling only, so that a key has one spelling: a bigint is ASCII digits
   * without sign or leading zero, up to 2^63 − 1; a UUID is 36 lower-case characters, of any
   * version.
   */
  public Optional<Key> parse(String text) {
    return switch (this) {
      case BIGINT -> parseBigint(text);
      case UUID -> parseUuid(text);
    };
  }

  private static Optional<Key> parseBigint(String text) {
    int length = text.length();
    if (length == 0 || length > BIGINT_DIGITS_MAX || (length > 1 && text.charAt(0) == '0')) {
      return Optional.empty();
    }
    long value = 0;
    for (int i = 0; i < length; i++) {
      char c = text.charAt(i);
      if (c < '0' || c > '9') {
        return Optional.empty();
      }
      value = value * 10 + (c - '0');
    }
    // Nineteen digits reach at most 10^19 − 1 < 2^64, so a value above 2^63 − 1 is negative here.
    return value < 0 ? Optional.empty() : Optional.of(new Key.Bigint(value));
  }

  private static Optional<Key> parseUuid(String text) {
    if (text.length() != UUID_LENGTH) {
      return Optional.empty();
    }
    long high = 0;
    long low = 0;
    for (int i = 0; i < UUID_LENGTH; i++) {
      char c = text.charAt(i);
      if (i == 8 || i == 13 || i == 18 || i == 23) {
        if (c != '-') {
          return Optional.empty();
        }
        continue;
      }
      int nibble = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
      if (nibble < 0) {
        return Optional.empty();
      }
      high = (high << 4) | (low >>> 60);
      low = (low << 4) | nibble;
    }
    return Optional.of(new Key.Uuid(new java.util.UUID(high, low)));
  }
}
