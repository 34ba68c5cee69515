package dev.coatcheck.id;

/**
 * What a text is where a public ID of one type is expected. Asks no gateway: a valid public ID may
 * be unknown there, or ended.
 *
 * @param <T> the expected type
 */
public sealed interface ParsedPublicId<T> {
  /**
   * The text is a public ID of the expected type.
   *
   * @param id the public ID
   * @param <T> its type
   */
  record Valid<T>(PublicId<T> id) implements ParsedPublicId<T> {}

  /**
   * The text is a public ID, but of another type.
   *
   * @param expected the prefix of the expected type
   * @param actual the prefix of the text
   * @param <T> the expected type
   */
  record WrongType<T>(String expected, String actual) implements ParsedPublicId<T> {}

  /**
   * The text is not a public ID of any type.
   *
   * @param reason what is wrong with it
   * @param position the index of the first wrong character, from 0; for {@link Reason#CHECK} that
   *     of the first check character, for {@link Reason#LENGTH} the length of the text
   * @param <T> the expected type
   */
  record Malformed<T>(Reason reason, int position) implements ParsedPublicId<T> {}

  /** Why a text is not a public ID. */
  enum Reason {
    /** It is empty, longer than 64 characters, or has not 24 characters after the underscore. */
    LENGTH,
    /** A character after the underscore is none of {@code 0-9A-Za-z}. */
    ALPHABET,
    /** The 22 characters of payload exceed 2^128 - 1. */
    OVERFLOW,
    /**
     * The last two characters are not the check characters of what is before them: a typing error.
     */
    CHECK,
    /** What is before the last underscore can't be a prefix, or there is none. */
    PREFIX
  }
}
