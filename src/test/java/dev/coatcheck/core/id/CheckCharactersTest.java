package dev.coatcheck.core.id;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class CheckCharactersTest {
  private static final int BODY_LENGTH = 24;
  private static final char[] ALPHABET =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".toCharArray();

  @Test
  void everySubstitutedBodyCharacterIsCaught() {
    SeededRandom.check(
        300,
        random -> {
          String good = random.publicId().toString();
          for (int at = good.length() - BODY_LENGTH; at < good.length(); at++) {
            for (char c : ALPHABET) {
              if (c != good.charAt(at)) {
                assertRefused(good.substring(0, at) + c + good.substring(at + 1));
              }
            }
          }
        });
  }

  @Test
  void everySubstitutedPrefixCharacterIsCaught() {
    SeededRandom.check(
        300,
        random -> {
          String good = random.publicId().toString();
          for (int at = 0; at < good.length() - BODY_LENGTH; at++) {
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
        2_000,
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

  /**
   * Why no swap is missed, for all IDs and not only for those tried: a swap within the checked part
   * changes the sum by a product of two numbers below the prime; this is the rest, a checked
   * character of weight w and a check character that counts 62 or 1.
   */
  @Test
  void noSwapWithACheckCharacterKeepsTheSum() {
    int weightMax = 55; // 32 characters of prefix, the underscore, 22 of payload
    for (int weight = 1; weight <= weightMax; weight++) {
      for (int one = 0; one < 62; one++) {
        for (int other = 0; other < one; other++) {
          int sum = weight * (ALPHABET[one] - ALPHABET[other]);
          assertThat((sum + 62 * (one - other)) % 3833).isNotZero();
          assertThat((sum + (one - other)) % 3833).isNotZero();
        }
      }
    }
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
