package dev.coatcheck.id;

import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.id.ParsedPublicId.Malformed;
import dev.coatcheck.id.ParsedPublicId.Reason;
import dev.coatcheck.id.ParsedPublicId.Valid;
import dev.coatcheck.id.ParsedPublicId.WrongType;
import java.io.Serializable;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The public ID of a {@code T}, such as {@code ch_4KIWSf8WvPNoQDBwStVIDYHU}. Its text is
 * well-formed and has the prefix of {@code T}. Whether the gateway knows it, the gateway says.
 *
 * <p>Immutable. Two are equal if type and text are. Applications keep keys in their databases and
 * show public IDs; the text is opaque, case-sensitive, and 64 characters at most. Serializable, for
 * sessions and caches of the application; what is read back is checked again.
 *
 * @param <T> the class that {@link PublicIdType} binds to a prefix
 */
public final class PublicId<T> implements Comparable<PublicId<T>>, Serializable {
  private static final long serialVersionUID = 1;

  private final Class<T> type;
  private final String text;

  private PublicId(Class<T> type, String text) {
    this.type = type;
    this.text = text;
  }

  /**
   * Reads a public ID of one type. Folds, trims and normalises nothing.
   *
   * @param type a class with {@link PublicIdType}
   * @param text any text, of any length
   * @param <T> the expected type
   * @return what the text is; never null
   * @throws IllegalArgumentException if the class has no {@link PublicIdType}, or no valid prefix
   */
  public static <T> ParsedPublicId<T> parse(Class<T> type, String text) {
    String expected = TypePrefix.of(type);
    ParsedId parsed = dev.coatcheck.core.id.PublicId.parse(text);
    if (parsed instanceof ParsedId.Malformed malformed) {
      return new Malformed<>(reason(malformed.reason()), malformed.position());
    }
    String actual = ((ParsedId.Valid) parsed).id().prefix().value();
    return actual.equals(expected)
        ? new Valid<>(new PublicId<>(type, text))
        : new WrongType<>(expected, actual);
  }

  /**
   * Reads a public ID of one type, which the text must be.
   *
   * @param type a class with {@link PublicIdType}
   * @param text a public ID of that type
   * @param <T> the expected type
   * @return the public ID
   * @throws InvalidPublicIdException if the text is anything else
   * @throws IllegalArgumentException if the class has no {@link PublicIdType}, or no valid prefix
   */
  public static <T> PublicId<T> of(Class<T> type, String text) {
    ParsedPublicId<T> parsed = parse(type, text);
    if (parsed instanceof Valid<T> valid) {
      return valid.id();
    }
    throw new InvalidPublicIdException(parsed, message(parsed));
  }

  /**
   * The prefix that a class is bound to.
   *
   * @param type a class with {@link PublicIdType}
   * @return the prefix, without an underscore at its end
   * @throws IllegalArgumentException if the class has no {@link PublicIdType}, or no valid prefix
   */
  public static String prefixOf(Class<?> type) {
    return TypePrefix.of(type);
  }

  /**
   * The prefix of a text, whichever type it belongs to.
   *
   * @param text any text, of any length
   * @return the prefix, or empty if the text is not a public ID
   */
  public static Optional<String> prefixOf(String text) {
    return dev.coatcheck.core.id.PublicId.parse(text) instanceof ParsedId.Valid valid
        ? Optional.of(valid.id().prefix().value())
        : Optional.empty();
  }

  /**
   * The class that the public ID is bound to.
   *
   * @return a class with {@link PublicIdType}
   */
  public Class<T> type() {
    return type;
  }

  /**
   * The prefix of the type.
   *
   * @return the text before the last underscore
   */
  public String prefix() {
    return TypePrefix.of(type);
  }

  /**
   * The public ID as it is written, for URLs, JSON and people.
   *
   * @return at most 64 characters of {@code 0-9A-Za-z_}
   */
  @Override
  public String toString() {
    return text;
  }

  /** Orders by text, character by character. The order says nothing about age. */
  @Override
  public int compareTo(PublicId<T> other) {
    return text.compareTo(other.text);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof PublicId<?> id && type == id.type && text.equals(id.text);
  }

  @Override
  public int hashCode() {
    return Objects.hash(type, text);
  }

  private Object readResolve() {
    return of(type, text);
  }

  private static Reason reason(ParsedId.Reason reason) {
    return Reason.valueOf(reason.name());
  }

  private static String message(ParsedPublicId<?> parsed) {
    if (parsed instanceof WrongType<?> wrong) {
      return "This is a public ID with the prefix "
          + wrong.actual()
          + ". The prefix must be "
          + wrong.expected()
          + ".";
    }
    Malformed<?> malformed = (Malformed<?>) parsed;
    return "This is not a public ID: "
        + switch (malformed.reason()) {
          case LENGTH -> "its length is wrong, " + malformed.position() + " characters.";
          case ALPHABET -> "character " + malformed.position() + " is none of 0-9A-Za-z.";
          case OVERFLOW -> "its number is too large from character " + malformed.position() + ".";
          case CHECK -> "its check characters are wrong. Look for a typing error.";
          case PREFIX ->
              "it has no prefix, or character " + malformed.position() + " can't be in one.";
        };
  }
}
