package dev.coatcheck.core.older;

import dev.coatcheck.core.key.Key;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * TypeID 0.3 of one type: its prefix and an underscore, or neither, and a UUID in 26 characters of
 * Crockford's base 32 in lower case.
 *
 * @param typeName the prefix without the underscore, up to 63 characters; may be empty
 */
public record TypeIds(String typeName) implements Decoder {
  public static final String SCHEME = "typeid";

  private static final Pattern TYPE_NAME = Pattern.compile("([a-z]([a-z_]{0,61}[a-z])?)?");
  private static final Alphabet ALPHABET = new Alphabet("0123456789abcdefghjkmnpqrstvwxyz");
  private static final int LENGTH = 26;
  private static final int BITS = 5;

  /** The first character holds the upper 3 of 128 bits. */
  private static final int FIRST_MAX = 7;

  private static final Digits DIGITS = new Digits(ALPHABET.characters().toCharArray());

  public TypeIds {
    if (!isTypeName(typeName)) {
      throw new IllegalArgumentException("no TypeID prefix: " + typeName);
    }
  }

  /** Whether the text can be the prefix of a TypeID. */
  public static boolean isTypeName(String text) {
    return TYPE_NAME.matcher(text).matches();
  }

  @Override
  public Optional<Decoded> decode(String text) {
    String prefix = prefix();
    if (text.length() != prefix.length() + LENGTH || !text.startsWith(prefix)) {
      return Optional.empty();
    }
    long high = 0;
    long low = 0;
    for (int i = prefix.length(); i < text.length(); i++) {
      int value = DIGITS.valueOf(text.charAt(i));
      if (value < 0 || (i == prefix.length() && value > FIRST_MAX)) {
        return Optional.empty();
      }
      high = high << BITS | low >>> (Long.SIZE - BITS);
      low = low << BITS | value;
    }
    return Optional.of(new Decoded.OfUuid(new Key.Uuid(new UUID(high, low))));
  }

  @Override
  public String scheme() {
    return SCHEME;
  }

  @Override
  public TextShape shape() {
    return new TextShape(prefix(), ALPHABET, LENGTH, LENGTH);
  }

  private String prefix() {
    return typeName.isEmpty() ? "" : typeName + "_";
  }
}
