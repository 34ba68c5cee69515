package dev.coatcheck.core.id;

import java.util.Locale;

/** The result of parsing a public ID. */
public sealed interface ParsedId {
  record Valid(PublicId id) implements ParsedId {}

  /**
   * The text is not a public ID.
   *
   * @param position the index of the first wrong character; for CHECK that of the first check
   *     character, for LENGTH the length of the text
   */
  record Malformed(Reason reason, int position) implements ParsedId {}

  /** Why a text is not a public ID. */
  enum Reason {
    LENGTH,
    ALPHABET,
    OVERFLOW,
    CHECK,
    PREFIX;

    private final String wireName = name().toLowerCase(Locale.ROOT);

    public String wireName() {
      return wireName;
    }
  }
}
