package dev.coatcheck.core.older;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Against the public library, which makes the texts. */
class SqidsTest {
  private static final String DEFAULT = Sqids.DEFAULT_ALPHABET.characters();
  private static final long[] EDGES = {
    0, 1, 2, 60, 61, 62, 4_711, 1L << 32, (1L << 53) - 1, Long.MAX_VALUE - 1, Long.MAX_VALUE
  };

  private static org.sqids.Sqids library(String alphabet, int minLength) {
    return org.sqids.Sqids.builder().alphabet(alphabet).minLength(minLength).build();
  }

  /** From the tests of the specification. */
  @ParameterizedTest
  @CsvSource({
    "0, bM", "1, Uk", "2, gb", "3, Ef", "4, Vq", "5, uw", "6, OI", "7, AX", "8, p6", "9, nJ",
  })
  void aPublishedTextIsItsNumber(long number, String text) {
    assertThat(new Sqids(Sqids.DEFAULT_ALPHABET, 0).decode(text)).isEqualTo(number(number));
  }

  @Test
  void whatTheLibraryMakesIsDecoded() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    String visible = DEFAULT + "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
    for (int round = 0; round < 100; round++) {
      String alphabet = round % 3 == 0 ? DEFAULT : HashidsTest.part(random, visible, 3);
      int minLength = random.nextInt(4) == 0 ? random.nextInt(256) : random.nextInt(20);
      org.sqids.Sqids library = library(alphabet, minLength);
      Sqids rule = new Sqids(new Alphabet(alphabet), minLength);
      String with = "seed %d, alphabet %s, min %d".formatted(seed, alphabet, minLength);
      for (int i = 0; i < 30; i++) {
        long number = i < EDGES.length ? EDGES[i] : random.nextLong(Long.MAX_VALUE) >>> (2 * i);
        String text = library.encode(List.of(number));
        assertThat(rule.decode(text)).as("%s, %s", with, text).isEqualTo(number(number));
        assertThat(text.length())
            .as(with)
            .isBetween(rule.shape().lengthMin(), rule.shape().lengthMax());
      }
    }
  }

  /** The library reads more: a text for each prefix and any padding. */
  @Test
  void onlyWhatTheLibraryMakesAgainIsDecoded() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    int decoded = 0;
    for (int minLength : new int[] {0, 5}) {
      org.sqids.Sqids library = library(DEFAULT, minLength);
      org.sqids.Sqids without =
          org.sqids.Sqids.builder().minLength(minLength).blockList(Set.of()).build();
      Sqids rule = new Sqids(Sqids.DEFAULT_ALPHABET, minLength);
      for (int i = 0; i < 10_000; i++) {
        StringBuilder text = new StringBuilder();
        for (int left = 1 + random.nextInt(8); left > 0; left--) {
          text.append(DEFAULT.charAt(random.nextInt(DEFAULT.length())));
        }
        List<Long> numbers = library.decode(text.toString());
        boolean made =
            numbers.size() == 1
                && numbers.getFirst() >= 0
                && (library.encode(numbers).contentEquals(text)
                    || without.encode(numbers).contentEquals(text));
        assertThat(rule.decode(text.toString()))
            .as("seed %d, text %s", seed, text)
            .isEqualTo(made ? number(numbers.getFirst()) : Optional.empty());
        decoded += made ? 1 : 0;
      }
    }
    assertThat(decoded).as("texts that are numbers by chance").isPositive();
  }

  /** 4572721 is the example of the specification: its first text is a word of the list. */
  @Test
  void aTextIsDecodedWithOrWithoutTheBlocklist() {
    Sqids rule = new Sqids(Sqids.DEFAULT_ALPHABET, 0);
    org.sqids.Sqids without = org.sqids.Sqids.builder().blockList(Set.of()).build();
    List<Long> number = List.of(4_572_721L);

    assertThat(without.encode(number)).isEqualTo("aho1e");
    assertThat(library(DEFAULT, 0).encode(number)).isEqualTo("JExTR");
    assertThat(rule.decode("aho1e")).isEqualTo(number(4_572_721));
    assertThat(rule.decode("JExTR")).isEqualTo(number(4_572_721));
    // The text after that, and the second one of a number whose first one is not blocked.
    assertThat(rule.decode(rule.encode(4_572_721, 2))).isEmpty();
    assertThat(rule.decode(rule.encode(4_711, 1))).isEmpty();
  }

  /** An encoder of an earlier release has a part of the list. */
  @Test
  void aPartOfTheBlocklistMakesTextsThatAreDecodedToo() {
    Random random = new Random(7);
    Sqids rule = new Sqids(Sqids.DEFAULT_ALPHABET, 0);
    Set<String> part = new HashSet<>(Blocklist.WORDS);
    part.removeIf(_ -> random.nextBoolean());
    org.sqids.Sqids earlier = org.sqids.Sqids.builder().blockList(part).build();
    org.sqids.Sqids later = library(DEFAULT, 0);
    int differing = 0;
    for (long number = 190_000; number < 230_000; number++) {
      String text = earlier.encode(List.of(number));
      assertThat(rule.decode(text)).as(text).isEqualTo(number(number));
      differing += text.equals(later.encode(List.of(number))) ? 0 : 1;
    }
    assertThat(differing).isPositive();
  }

  @Test
  void theBlocklistIsThePublishedList() {
    assertThat(Blocklist.WORDS)
        .containsExactlyInAnyOrderElementsOf(org.sqids.Sqids.Builder.DEFAULT_BLOCK_LIST);
  }

  @ParameterizedTest
  @CsvSource({
    "xxanusxx, true",
    "xxANUSxx, true",
    "xxb00bxx, true",
    "1d10txxx, true",
    "xxx1d10t, true",
    "xx1d10tx, false",
    "ass, true",
    "xassx, false",
    "anu, false",
  })
  void aWordCountsWhereAnEncoderCountsIt(String text, boolean expected) {
    assertThat(Blocklist.of(Sqids.DEFAULT_ALPHABET).blocks(text)).isEqualTo(expected);
  }

  @Test
  void severalNumbersAreRefused() {
    Sqids rule = new Sqids(Sqids.DEFAULT_ALPHABET, 0);

    assertThat(rule.decode(library(DEFAULT, 0).encode(List.of(1L, 2L, 3L)))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "U", "uk", "Uk ", " Uk", "Uk\0", "Ｕk", "U-", "UaaaaaaaaaaaaaaaaaU"})
  void otherTextsAreRefused(String text) {
    assertThat(new Sqids(Sqids.DEFAULT_ALPHABET, 0).decode(text)).isEmpty();
  }

  @Test
  void whatIsNoRuleIsRefused() {
    assertThatThrownBy(() -> new Sqids(new Alphabet("ab"), 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Sqids(Sqids.DEFAULT_ALPHABET, 256))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static Optional<Decoded> number(long number) {
    return Optional.of(new Decoded.OfNumber(number));
  }
}
