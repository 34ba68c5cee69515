package dev.coatcheck.core.id;

import java.util.Locale;

/** The result of parsing a public ID. */
public sealed interface ParsedId {
  record Valid(PublicId id) implements ParsedId {}

  /**
   * Refused.
   *
   * @param position the index of the offending character, for CHECK that of the first check
   *     character, for LENGTH the text's length
   */
  record Malformed(Reason reason, int position) implements ParsedId {}

  /** Why a text is no public ID. */
  enum Reason {
    LENGTH,
    ALPHABET,
    OVERFLOW,
    CHECK,
    PREFIX;

    private final String wireName = name().toLowerCase(Locale.ROOT);

    /** The name that clients see. */
    public String wireName() {
      return wireName;
    }
  }
}
