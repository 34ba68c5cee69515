package dev.coatcheck.core.id;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class CheckCharactersTest {
  @Test
  void everySubstitutedCharacterIsCaught() {
    SeededRandom.check(
        300,
        random -> {
          String good = random.publicId().toString();
          for (int at = 0; at < good.length(); at++) {
            for (char c = 0; c < 128; c++) {
              if (c != good.charAt(at)) {
                assertRefused(good.substring(0, at) + c + good.substring(at + 1));
              }
            }
          }
        });
  }

  @Test
  void everySwapOfTwoDifferentCharactersIsCaught() {
    SeededRandom.check(
        500,
        random -> {
          String good = random.publicId().toString();
          for (int one = 0; one < good.length(); one++) {
            for (int other = one + 1; other < good.length(); other++) {
              if (good.charAt(one) != good.charAt(other)) {
                assertRefused(swapped(good, one, other));
              }
            }
          }
        });
  }

  @Test
  void aboutOneInThreeThousandOfRandomJunkPasses() {
    int[] accepted = {0};
    SeededRandom.check(
        1_000_000,
        random -> {
          StringBuilder junk = new StringBuilder("ch_0");
          while (junk.length() < 27) {
            junk.append(random.base62());
          }
          if (PublicId.parse(junk.toString()) instanceof ParsedId.Valid) {
            accepted[0]++;
          }
        });

    assertThat(accepted[0]).isBetween(150, 400); // 260 expected
  }

  private static String swapped(String text, int one, int other) {
    StringBuilder swapped = new StringBuilder(text);
    swapped.setCharAt(one, text.charAt(other));
    swapped.setCharAt(other, text.charAt(one));
    return swapped.toString();
  }

  private static void assertRefused(String text) {
    assertThat(PublicId.parse(text)).as(text).isInstanceOf(ParsedId.Malformed.class);
  }
}
