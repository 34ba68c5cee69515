package dev.coatcheck.core.older;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

/** The words that published Sqids encoders avoid in their texts, in lower case. */
final class Blocklist {
  private static final String RESOURCE = "sqids-blocklist.txt";
  private static final int SHORT = 3;
  static final List<String> WORDS = read();

  private final List<String> words;

  private Blocklist(List<String> words) {
    this.words = words;
  }

  /** The words that consist of characters of the alphabet. */
  static Blocklist of(Alphabet alphabet) {
    String characters = alphabet.characters().toLowerCase(Locale.ROOT);
    return new Blocklist(
        WORDS.stream()
            .filter(word -> word.chars().allMatch(c -> characters.indexOf(c) >= 0))
            .toList());
  }

  /**
   * Whether an encoder may have rejected the text. A word of three letters blocks only the same
   * text, and a word that begins with a digit blocks only at the ends of a text.
   */
  boolean blocks(String text) {
    String lower = text.toLowerCase(Locale.ROOT);
    return words.stream().anyMatch(word -> blocks(word, lower));
  }

  private static boolean blocks(String word, String text) {
    if (text.length() <= SHORT || word.length() <= SHORT) {
      return text.equals(word);
    }
    return Character.isDigit(word.charAt(0))
        ? text.startsWith(word) || text.endsWith(word)
        : text.contains(word);
  }

  private static List<String> read() {
    try (InputStream in = Blocklist.class.getResourceAsStream(RESOURCE)) {
      if (in == null) {
        throw new IllegalStateException("missing resource: " + RESOURCE);
      }
      return new String(in.readAllBytes(), StandardCharsets.US_ASCII)
          .lines()
          .filter(line -> !line.startsWith("#"))
          .toList();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
