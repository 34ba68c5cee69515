package dev.coatcheck.core.older;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Hashids 1.0 (hashids.org) of one number each.
 *
 * <p>The alphabet is divided into guards, digits and separators. Separators stand between several
 * numbers, so these texts have none. A text is
 *
 * <pre>
 * padding | guard | lottery | digits of the number | guard | padding
 * </pre>
 *
 * with guards and padding only if the text would otherwise be shorter than the minimum. The lottery
 * is a digit that is derived from the number. The lottery and the salt shuffle the digits.
 */
public final class Hashids implements Decoder {
  public static final String SCHEME = "hashids";
  public static final Alphabet DEFAULT_ALPHABET =
      new Alphabet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890");
  public static final int ALPHABET_SIZE_MIN = 16;
  public static final int SALT_LENGTH_MAX = 255;

  private static final String SEPARATORS = "cfhistuCFHISTU";
  private static final int LOTTERIES = 100;

  private final String salt;
  private final int minLength;
  private final TextShape shape;
  private final Digits lotteries;
  private final Digits guards;

  /** Indexed by the value of the lottery. Computed once: most of the work of a text. */
  private final Shuffled[] shuffled;

  /**
   * The digits as a lottery shuffles them.
   *
   * @param paddings the digits after each further shuffle for padding
   */
  private record Shuffled(Digits digits, List<String> paddings) {}

  /**
   * Creates a rule.
   *
   * @param salt up to 255 characters, none of them a surrogate
   * @param alphabet at least 16 characters
   * @param minLength 0 to 255
   */
  public Hashids(String salt, Alphabet alphabet, int minLength) {
    if (!isSalt(salt)
        || alphabet.size() < ALPHABET_SIZE_MIN
        || minLength < 0
        || minLength > TEXT_LENGTH_MAX) {
      throw new IllegalArgumentException("alphabet " + alphabet + ", min length " + minLength);
    }
    this.salt = salt;
    this.minLength = minLength;

    String separators = kept(SEPARATORS, alphabet.characters(), true);
    String others = kept(alphabet.characters(), SEPARATORS, false);
    separators = shuffled(separators.toCharArray(), salt);
    // One separator per three and a half other characters, rounded up.
    int separatorsMin = Math.max(2, Math.ceilDiv(2 * others.length(), 7));
    if (separatorsMin > separators.length()
        && (separators.isEmpty() || 2 * others.length() > 7 * separators.length())) {
      int moved = separatorsMin - separators.length();
      separators += others.substring(0, moved);
      others = others.substring(moved);
    }
    others = shuffled(others.toCharArray(), salt);
    int guardCount = Math.ceilDiv(others.length(), 12);
    boolean few = others.length() < 3;
    this.guards = new Digits((few ? separators : others).substring(0, guardCount).toCharArray());
    this.lotteries = new Digits((few ? others : others.substring(guardCount)).toCharArray());
    this.shape =
        new TextShape(
            "",
            alphabet,
            Math.max(minLength, 2),
            Math.max(minLength, 1 + Digits.lengthMax(lotteries.base())));
    this.shuffled = new Shuffled[lotteries.base()];
    for (int lottery = 0; lottery < shuffled.length; lottery++) {
      shuffled[lottery] = shuffledBy(lotteries.of(lottery));
    }
  }

  private Shuffled shuffledBy(char lottery) {
    char[] characters = lotteries.characters();
    char[] by =
        Arrays.copyOf((lottery + salt + new String(characters)).toCharArray(), characters.length);
    shuffle(characters, by);
    Digits digits = new Digits(characters);
    List<String> paddings = new ArrayList<>();
    for (int length = 0; length <= minLength; length += characters.length) {
      shuffle(characters, characters.clone());
      paddings.add(new String(characters));
    }
    return new Shuffled(digits, paddings);
  }

  /** Whether a text can be a salt. Libraries disagree on characters beyond 16 bits. */
  public static boolean isSalt(String text) {
    return text.length() <= SALT_LENGTH_MAX && text.chars().noneMatch(Hashids::isSurrogate);
  }

  private static boolean isSurrogate(int c) {
    return Character.isSurrogate((char) c);
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
    // Padding consists of digits, so the first guard is before the lottery.
    int guard = guardFrom(text, 0);
    int begin = guard < text.length() ? guard + 1 : 0;
    int end = guardFrom(text, begin);
    int lottery = begin < end ? lotteries.valueOf(text.charAt(begin)) : -1;
    if (lottery < 0) {
      return Optional.empty();
    }
    OptionalLong number = shuffled[lottery].digits().read(text, begin + 1, end);
    return number.isPresent() && encode(number.getAsLong()).equals(text)
        ? Optional.of(new Decoded.OfNumber(number.getAsLong()))
        : Optional.empty();
  }

  /** The index of the next guard, or the end of the text. */
  private int guardFrom(String text, int start) {
    int at = start;
    while (at < text.length() && guards.valueOf(text.charAt(at)) < 0) {
      at++;
    }
    return at;
  }

  public String encode(long number) {
    int hash = (int) (number % LOTTERIES);
    Shuffled by = shuffled[hash % shuffled.length];
    char lottery = lotteries.of(hash % shuffled.length);
    StringBuilder text = new StringBuilder(shape.lengthMax());
    text.append(lottery).append(by.digits().write(number));
    if (text.length() < minLength) {
      text.insert(0, guards.of((hash + lottery) % guards.base()));
    }
    if (text.length() < minLength) {
      text.append(guards.of((hash + text.charAt(2)) % guards.base()));
    }
    for (int i = 0; text.length() < minLength; i++) {
      pad(text, by.paddings().get(i));
    }
    return text.toString();
  }

  /** Puts the second half of the digits in front and the first half behind, and trims both ends. */
  private void pad(StringBuilder text, String padding) {
    int half = padding.length() / 2;
    text.insert(0, padding, half, padding.length()).append(padding, 0, half);
    int excess = text.length() - minLength;
    if (excess > 0) {
      text.delete(0, excess / 2).setLength(minLength);
    }
  }

  private static String shuffled(char[] characters, String by) {
    if (!by.isEmpty()) {
      shuffle(characters, by.toCharArray());
    }
    return new String(characters);
  }

  private static void shuffle(char[] characters, char[] by) {
    int sum = 0;
    int at = 0;
    for (int i = characters.length - 1; i > 0; i--) {
      sum += by[at];
      int other = (by[at] + at + sum) % i;
      char moved = characters[i];
      characters[i] = characters[other];
      characters[other] = moved;
      at = (at + 1) % by.length;
    }
  }

  /** The characters of the text that are in the other text, or those that are not. */
  private static String kept(String text, String others, boolean among) {
    StringBuilder kept = new StringBuilder();
    text.chars().filter(c -> others.indexOf(c) >= 0 == among).forEach(c -> kept.append((char) c));
    return kept.toString();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Hashids that
        && salt.equals(that.salt)
        && shape.equals(that.shape)
        && minLength == that.minLength;
  }

  @Override
  public int hashCode() {
    return Objects.hash(salt, shape, minLength);
  }
}
