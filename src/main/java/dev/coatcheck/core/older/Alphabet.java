package dev.coatcheck.core.older;

import java.util.Optional;

/**
 * The characters that texts consist of.
 *
 * @param characters 1 to 94 different visible ASCII characters; their order matters to Hashids and
 *     Sqids
 */
public record Alphabet(String characters) {
  private static final char FIRST = '!';
  private static final char LAST = '~';

  public Alphabet {
    if (!isAlphabet(characters)) {
      throw new IllegalArgumentException("no alphabet: " + characters);
    }
  }

  /** Empty if the text is empty, repeats a character or is not all visible ASCII. */
  public static Optional<Alphabet> parse(String characters) {
    return isAlphabet(characters) ? Optional.of(new Alphabet(characters)) : Optional.empty();
  }

  private static boolean isAlphabet(String text) {
    return !text.isEmpty()
        && text.chars().allMatch(c -> c >= FIRST && c <= LAST)
        && text.chars().distinct().count() == text.length();
  }

  public int size() {
    return characters.length();
  }

  /** Whether the text consists only of characters of this alphabet. */
  public boolean spells(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (characters.indexOf(text.charAt(i)) < 0) {
        return false;
      }
    }
    return true;
  }

  public boolean meets(Alphabet other) {
    return characters.chars().anyMatch(c -> other.characters.indexOf(c) >= 0);
  }
}
