package dev.coatcheck.core.older;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Against the public library, which makes the texts. */
class HashidsTest {
  private static final String DEFAULT = Hashids.DEFAULT_ALPHABET.characters();
  private static final String VISIBLE = visible();

  /** The greatest number that the library takes. */
  private static final long LIBRARY_MAX = org.hashids.Hashids.MAX_NUMBER;

  private static final long[] EDGES = {
    0, 1, 2, 43, 44, 99, 100, 101, 4_711, 1L << 32, (1L << 53) - 1, 1L << 53
  };

  private static String visible() {
    StringBuilder all = new StringBuilder();
    for (char c = '!'; c <= '~'; c++) {
      // The library takes these for a part of a regular expression.
      if ("\\[]^-&".indexOf(c) < 0) {
        all.append(c);
      }
    }
    return all.toString();
  }

  @ParameterizedTest
  @CsvSource({
    "this is my salt, 0, 12345, NkK9",
    "this is my salt, 8, 1, gB0NV05e",
    "'', 0, 1, jR",
  })
  void aPublishedTextIsItsNumber(String salt, int minLength, long number, String text) {
    Hashids rule = new Hashids(salt, Hashids.DEFAULT_ALPHABET, minLength);

    assertThat(rule.decode(text)).isEqualTo(number(number));
  }

  @Test
  void whatTheLibraryMakesIsDecoded() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < 200; round++) {
      String salt = text(random, random.nextInt(80));
      String alphabet = round % 3 == 0 ? DEFAULT : part(random, VISIBLE, 16);
      int minLength = random.nextInt(4) == 0 ? random.nextInt(256) : random.nextInt(20);
      org.hashids.Hashids library = new org.hashids.Hashids(salt, minLength, alphabet);
      Hashids rule = new Hashids(salt, new Alphabet(alphabet), minLength);
      String with =
          "seed %d, salt %s, alphabet %s, min %d".formatted(seed, salt, alphabet, minLength);
      for (int i = 0; i < 30; i++) {
        long number = i < EDGES.length ? EDGES[i] : random.nextLong(LIBRARY_MAX) >>> (2 * i);
        String text = library.encode(number);
        assertThat(rule.decode(text)).as("%s, %s", with, text).isEqualTo(number(number));
        assertThat(text.length())
            .as(with)
            .isBetween(rule.shape().lengthMin(), rule.shape().lengthMax());
      }
    }
  }

  /** Beyond 2^53 the library takes nothing, but other libraries do. */
  @Test
  void numbersUpTo63BitsComeBack() {
    for (int minLength : new int[] {0, 8, 40, 255}) {
      Hashids rule = new Hashids("salt", Hashids.DEFAULT_ALPHABET, minLength);
      for (long number : new long[] {LIBRARY_MAX + 1, Long.MAX_VALUE - 1, Long.MAX_VALUE}) {
        String text = rule.encode(number);
        assertThat(rule.decode(text)).isEqualTo(number(number));
        assertThat(text.length()).isBetween(rule.shape().lengthMin(), rule.shape().lengthMax());
      }
    }
  }

  /** Whatever the library reads one number from, and only that. */
  @Test
  void whatTheLibraryRefusesIsRefused() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    int decoded = 0;
    for (int round = 0; round < 200; round++) {
      String salt = text(random, 5);
      int minLength = random.nextInt(10);
      org.hashids.Hashids library = new org.hashids.Hashids(salt, minLength);
      Hashids rule = new Hashids(salt, Hashids.DEFAULT_ALPHABET, minLength);
      for (int i = 0; i < 300; i++) {
        String text = text(random, DEFAULT, 1 + random.nextInt(9));
        long[] numbers = library.decode(text);
        assertThat(rule.decode(text))
            .as("seed %d, salt %s, text %s", seed, salt, text)
            .isEqualTo(numbers.length == 1 ? number(numbers[0]) : Optional.empty());
        decoded += numbers.length == 1 ? 1 : 0;
      }
    }
    assertThat(decoded).as("texts that are numbers by chance").isPositive();
  }

  /** One changed, lost, added or moved character gives another number or none, never the same. */
  @Test
  void aNumberHasOneText() {
    for (int minLength : new int[] {0, 12}) {
      Hashids rule = new Hashids("one", Hashids.DEFAULT_ALPHABET, minLength);
      String text = rule.encode(4_711);
      Set<String> others = new TreeSet<>();
      for (int i = 0; i < text.length(); i++) {
        others.add(text.substring(0, i) + text.substring(i + 1));
        for (int at = 0; at < DEFAULT.length(); at++) {
          char c = DEFAULT.charAt(at);
          others.add(text.substring(0, i) + c + text.substring(i + 1));
          others.add(text.substring(0, i) + c + text.substring(i));
        }
      }
      others.remove(text);
      assertThat(others).noneMatch(other -> rule.decode(other).equals(number(4_711)));
    }
  }

  @Test
  void severalNumbersAreRefused() {
    org.hashids.Hashids library = new org.hashids.Hashids("several");
    Hashids rule = new Hashids("several", Hashids.DEFAULT_ALPHABET, 0);

    assertThat(rule.decode(library.encode(1, 2))).isEmpty();
    assertThat(rule.decode(library.encode(1, 2, 3))).isEmpty();
    assertThat(rule.decode(library.encode(1))).isEqualTo(number(1));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "j", "Rj", "jR ", " jR", "jR\0", "ｊR", "JR", "zzzzzzzzzzzzz", "//"})
  void otherTextsAreRefused(String text) {
    assertThat(new Hashids("", Hashids.DEFAULT_ALPHABET, 0).decode(text)).isEmpty();
  }

  @Test
  void whatIsNoRuleIsRefused() {
    assertThatThrownBy(() -> new Hashids("", new Alphabet("abcdefghijklmno"), 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Hashids("", Hashids.DEFAULT_ALPHABET, 256))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(Hashids.isSalt("é".repeat(255))).isTrue();
    assertThat(Hashids.isSalt("x".repeat(256))).isFalse();
    assertThat(Hashids.isSalt("😀")).isFalse();
  }

  private static Optional<Decoded> number(long number) {
    return Optional.of(new Decoded.OfNumber(number));
  }

  private static String text(Random random, int length) {
    return text(random, VISIBLE, length);
  }

  private static String text(Random random, String characters, int length) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append(characters.charAt(random.nextInt(characters.length())));
    }
    return text.toString();
  }

  /** Some of the characters, in another order. */
  static String part(Random random, String characters, int least) {
    List<String> all = new ArrayList<>(List.of(characters.split("")));
    Collections.shuffle(all, random);
    return String.join("", all.subList(0, least + random.nextInt(all.size() - least + 1)));
  }
}
