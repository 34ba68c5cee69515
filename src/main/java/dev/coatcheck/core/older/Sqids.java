package dev.coatcheck.core.older;

import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Sqids (sqids.org) of one number each.
 *
 * <pre>
 * prefix | digits of the number | separator | padding
 * </pre>
 *
 * with a separator and padding only if the text would otherwise be shorter than the minimum. The
 * prefix is derived from the number, and rotates the alphabet of the separator and the digits.
 *
 * <p><b>Blocked words.</b> An encoder that finds a word of its blocklist in a text uses the next
 * prefix instead, until the text contains no such word. Encoders have different lists: the
 * published list, which has grown with the releases, or none. They also disagree on whether a word
 * with a digit counts in the middle of a text. So a text is accepted if it is the first one of its
 * number, or if each earlier text contains a word of the {@link Blocklist published list}. All
 * others are refused, so that an arbitrary text hardly ever decodes to a number.
 */
public final class Sqids implements Decoder {
  public static final String SCHEME = "sqids";
  public static final Alphabet DEFAULT_ALPHABET =
      new Alphabet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
  public static final int ALPHABET_SIZE_MIN = 3;

  private final TextShape shape;
  private final int minLength;
  private final Blocklist blocklist;
  private final Digits prefixes;

  /** Indexed by the offset of the prefix. Computed once: most of the work of a text. */
  private final Turned[] turned;

  /** The alphabet, rotated to start at an offset and reversed. */
  private static final class Turned {
    final char separator;
    final Digits digits;

    /** What follows the separator of a text, at the length of the longest padding. */
    final String padding;

    Turned(char[] shuffled, int offset, int minLength) {
      int size = shuffled.length;
      char[] turned = new char[size];
      for (int i = 0; i < size; i++) {
        turned[size - 1 - i] = shuffled[(offset + i) % size];
      }
      separator = turned[0];
      digits = new Digits(Arrays.copyOfRange(turned, 1, size));
      StringBuilder all = new StringBuilder();
      while (all.length() < minLength) {
        shuffle(turned);
        all.append(turned);
      }
      padding = all.toString();
    }
  }

  /**
   * Creates a rule.
   *
   * @param alphabet at least 3 characters
   * @param minLength 0 to 255
   */
  public Sqids(Alphabet alphabet, int minLength) {
    if (alphabet.size() < ALPHABET_SIZE_MIN || minLength < 0 || minLength > TEXT_LENGTH_MAX) {
      throw new IllegalArgumentException("alphabet " + alphabet + ", min length " + minLength);
    }
    this.minLength = minLength;
    this.blocklist = Blocklist.of(alphabet);
    char[] shuffled = alphabet.characters().toCharArray();
    shuffle(shuffled);
    this.prefixes = new Digits(shuffled);
    this.shape =
        new TextShape(
            "",
            alphabet,
            Math.max(minLength, 2),
            Math.max(minLength, 1 + Digits.lengthMax(prefixes.base() - 1)));
    this.turned = new Turned[shuffled.length];
    for (int offset = 0; offset < turned.length; offset++) {
      turned[offset] = new Turned(shuffled, offset, minLength);
    }
  }

  @Override
  public String scheme() {
    return SCHEME;
  }

  @Override
  public TextShape shape() {
    return shape;
  }

  @Override
  public Optional<Decoded> decode(String text) {
    if (text.length() < shape.lengthMin() || text.length() > shape.lengthMax()) {
      return Optional.empty();
    }
    int offset = prefixes.valueOf(text.charAt(0));
    if (offset < 0) {
      return Optional.empty();
    }
    Turned from = turned[offset];
    int separator = text.indexOf(from.separator, 1);
    OptionalLong number = from.digits.read(text, 1, separator < 0 ? text.length() : separator);
    return number.isPresent() && makes(text, number.getAsLong())
        ? Optional.of(new Decoded.OfNumber(number.getAsLong()))
        : Optional.empty();
  }

  private boolean makes(String text, long number) {
    for (int attempt = 0; attempt <= prefixes.base(); attempt++) {
      String made = encode(number, attempt);
      if (made.equals(text)) {
        return true;
      }
      if (!blocklist.blocks(made)) {
        return false;
      }
    }
    return false;
  }

  /**
   * The first text of a number that contains no blocked word.
   *
   * @param number 0 to 2^63 - 1
   */
  public String encode(long number) {
    for (int attempt = 0; attempt <= prefixes.base(); attempt++) {
      String made = encode(number, attempt);
      if (!blocklist.blocks(made)) {
        return made;
      }
    }
    throw new IllegalArgumentException("every text of " + number + " has a blocked word");
  }

  /**
   * @param number 0 to 2^63 - 1
   * @param attempt how many earlier texts contained a blocked word
   */
  String encode(long number, int attempt) {
    int size = prefixes.base();
    int offset = (1 + prefixes.of((int) (number % size)) + attempt) % size;
    Turned from = turned[offset];
    StringBuilder text = new StringBuilder(shape.lengthMax());
    text.append(prefixes.of(offset)).append(from.digits.write(number));
    if (text.length() < minLength) {
      text.append(from.separator).append(from.padding, 0, minLength - text.length());
    }
    return text.toString();
  }

  private static void shuffle(char[] characters) {
    int size = characters.length;
    for (int i = 0, j = size - 1; j > 0; i++, j--) {
      int other = (i * j + characters[i] + characters[j]) % size;
      char moved = characters[i];
      characters[i] = characters[other];
      characters[other] = moved;
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Sqids that && shape.equals(that.shape) && minLength == that.minLength;
  }

  @Override
  public int hashCode() {
    return Objects.hash(shape, minLength);
  }
}
