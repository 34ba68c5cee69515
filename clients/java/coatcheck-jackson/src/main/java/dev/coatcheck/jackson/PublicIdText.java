package dev.coatcheck.jackson;

import dev.coatcheck.id.InvalidPublicIdException;
import dev.coatcheck.id.Key;
import dev.coatcheck.id.PublicId;
import org.jspecify.annotations.Nullable;

/** What both modules say. */
final class PublicIdText {
  static final String NO_TYPE =
      "PublicId needs its type here, as in PublicId<Charge>, or its prefix is unknown";
  static final String NO_KEYS =
      "A key is not read from JSON. Take a PublicId and resolve it, or its type is not checked.";

  private PublicIdText() {}

  /** The class of keys, as generics want it. */
  @SuppressWarnings("unchecked")
  static Class<Key<?>> keyClass() {
    return (Class<Key<?>>) (Class<?>) Key.class;
  }

  /**
   * Reads the text of a public ID.
   *
   * @throws InvalidPublicIdException if the text is not a public ID of that type
   */
  static PublicId<?> parse(@Nullable Class<?> type, String text) {
    if (type == null) {
      throw new IllegalArgumentException(NO_TYPE);
    }
    return PublicId.of(type, text);
  }

  /** The argument of {@code PublicId}, or null where it is a variable or a wildcard. */
  static @Nullable Class<?> known(@Nullable Class<?> argument) {
    return argument == Object.class ? null : argument;
  }
}
