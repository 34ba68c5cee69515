package dev.coatcheck.core.older;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.id.Prefix;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TextShapeTest {
  private static TextShape shape(String prefix, String alphabet, int min, int max) {
    return new TextShape(prefix, new Alphabet(alphabet), min, max);
  }

  @ParameterizedTest
  @CsvSource({
    "a-12, true",
    "a-123, true",
    "a-1, false",
    "a-1234, false",
    "a-14, false",
    "a12, false",
    "xa-12, false",
    "a-12x, false",
    "A-12, false",
    "'', false",
    "a-, false",
  })
  void aShapeSaysWhichTextsAreMeant(String text, boolean expected) {
    assertThat(shape("a-", "123", 2, 3).fits(text)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "ch_, 24, 24, true",
    "ch, 25, 25, false", // the underscore is not of the alphabet
    "'', 27, 27, false",
    "ch_a, 23, 23, true",
    "ch_a, 22, 22, false",
    "ch_, 25, 30, false",
    "ch_, 20, 23, false",
    "cha_, 24, 24, false",
    "c_, 24, 24, false",
  })
  void aShapeMayTakeInPublicIdsOfOurs(String prefix, int min, int max, boolean expected) {
    TextShape older =
        shape(prefix, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890", min, max);

    assertThat(older.overlaps(TextShape.ofOurs(new Prefix("ch")))).isEqualTo(expected);
    assertThat(TextShape.ofOurs(new Prefix("ch")).overlaps(older)).isEqualTo(expected);
  }

  /** Compared with all texts of up to five characters. */
  @Test
  void twoShapesOverlapIfSomeTextHasBoth() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    List<String> texts = new ArrayList<>(List.of(""));
    for (int from = 0, length = 1; length <= 5; length++) {
      int end = texts.size();
      for (int i = from; i < end; i++) {
        for (String c : List.of("a", "b", "c")) {
          texts.add(texts.get(i) + c);
        }
      }
      from = end;
    }
    int overlapping = 0;
    for (int round = 0; round < 2_000; round++) {
      TextShape one = random(random);
      TextShape other = random(random);
      boolean both = texts.stream().anyMatch(text -> one.fits(text) && other.fits(text));
      assertThat(one.overlaps(other))
          .as("seed %d, %s, %s", seed, one, other)
          .isEqualTo(both)
          .isEqualTo(other.overlaps(one));
      overlapping += both ? 1 : 0;
    }
    assertThat(overlapping).isBetween(100, 1_900);
  }

  private static TextShape random(Random random) {
    String prefix = "";
    for (int left = random.nextInt(3); left > 0; left--) {
      prefix += "abc".charAt(random.nextInt(3));
    }
    String alphabet = List.of("a", "b", "ab", "bc", "ca", "abc").get(random.nextInt(6));
    int min = 1 + random.nextInt(3);
    return shape(prefix, alphabet, min, min + random.nextInt(4 - min));
  }
}
