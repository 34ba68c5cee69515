package dev.coatcheck.id;

import java.io.Serializable;
import java.util.UUID;

/**
 * The key of a {@code T} in the application's database: a number or a UUID. It never leaves the
 * application; people see the {@link PublicId}. Serializable, for sessions and caches of the
 * application.
 *
 * @param <T> the class that the key belongs to
 */
public sealed interface Key<T> extends Serializable {
  /**
   * The class that the key belongs to.
   *
   * @return usually a class with {@link PublicIdType}
   */
  Class<T> type();

  /**
   * The key as the gateway writes it.
   *
   * @return a decimal without leading zeros, or a UUID of 36 characters in lower case
   */
  String text();

  /**
   * A number.
   *
   * @param type the class that the key belongs to
   * @param value 0 to 2^63 - 1, such as a Snowflake
   * @param <T> that class
   */
  record OfLong<T>(Class<T> type, long value) implements Key<T> {
    /** Refuses negative numbers with an {@link IllegalArgumentException}. */
    public OfLong {
      if (value < 0) {
        throw new IllegalArgumentException("A key is not negative. It is " + value + ".");
      }
    }

    @Override
    public String text() {
      return Long.toString(value);
    }

    @Override
    public String toString() {
      return text();
    }
  }

  /**
   * A UUID.
   *
   * @param type the class that the key belongs to
   * @param value any UUID
   * @param <T> that class
   */
  record OfUuid<T>(Class<T> type, UUID value) implements Key<T> {
    @Override
    public String text() {
      return value.toString();
    }

    @Override
    public String toString() {
      return text();
    }
  }

  /**
   * A key that is a number.
   *
   * @param type the class that the key belongs to
   * @param value 0 to 2^63 - 1
   * @param <T> that class
   * @return the key
   * @throws IllegalArgumentException if the number is negative
   */
  static <T> Key<T> of(Class<T> type, long value) {
    return new OfLong<>(type, value);
  }

  /**
   * A key that is a UUID.
   *
   * @param type the class that the key belongs to
   * @param value any UUID
   * @param <T> that class
   * @return the key
   */
  static <T> Key<T> of(Class<T> type, UUID value) {
    return new OfUuid<>(type, value);
  }

  /**
   * Reads a key, strictly: what {@link #text} writes, and UUIDs in upper case.
   *
   * @param type the class that the key belongs to
   * @param text a decimal without leading zeros, or a UUID of 36 characters
   * @param <T> that class
   * @return the key
   * @throws IllegalArgumentException if the text is neither
   */
  static <T> Key<T> parse(Class<T> type, String text) {
    if (KeyText.NUMBER.matcher(text).matches()) {
      return of(type, Long.parseLong(text)); // fails for 2^63 and more
    }
    if (KeyText.UUID.matcher(text).matches()) {
      return of(type, UUID.fromString(text));
    }
    throw new IllegalArgumentException(
        "A key is a decimal from 0 to 2^63 - 1 or a UUID of 36 characters. This text has "
            + text.length()
            + " characters.");
  }
}
