package dev.coatcheck.ids.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.id.Randomness;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;

class ApiKeyTest {
  private static final String BASE62 =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

  @Test
  void looksAsSecretScannersKnowIt() {
    ApiKey key = ApiKey.generate(new RandomSource());

    assertThat(key.secretText()).matches("ccg_live_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}");
    assertThat(key.secretText()).isEqualTo(withCheck(key.secretText().substring(0, 54)));
    assertThat(ApiKey.parse(key.secretText()).orElseThrow().id()).isEqualTo(key.id());
  }

  @Test
  void anUnderscoreStandsOnlyBeforeTheSecret() {
    String key = ApiKey.generate(new RandomSource()).secretText();
    for (int i = 9; i < 54; i++) {
      String moved = withCheck(key.substring(0, i) + "_" + key.substring(i + 1, 54));
      assertThat(ApiKey.parse(moved).isPresent()).as("%d", i).isEqualTo(i == 21);
    }
    assertThat(ApiKey.parse(withCheck(key.substring(0, 21) + "0" + key.substring(22, 54))))
        .isEmpty();
  }

  /** Bytes whose remainder by 62 was taken would give 40. */
  @Test
  void everyCharacterOfTheSecretIsAsLikelyAsAnyOther() {
    RandomSource random = new RandomSource();
    List<String> secrets =
        Stream.generate(() -> ApiKey.generate(random).secretText())
            .limit(1 << 15)
            .map(text -> text.substring(9, 21) + text.substring(22, 54))
            .toList();

    assertThat(Randomness.ofCharacters(secrets)).isLessThan(Randomness.MAX);
  }

  @Test
  void showsOnlyItsIdWhenItIsPrinted() {
    ApiKey key = ApiKey.generate(new RandomSource());

    assertThat(key.toString()).contains(key.id()).doesNotContain(key.secretText().substring(22));
  }

  @Test
  void everyTypoIsCaught() {
    String key = ApiKey.generate(new RandomSource()).secretText();
    for (int i = 0; i < key.length(); i++) {
      for (int j = 0; j < BASE62.length(); j++) {
        char c = BASE62.charAt(j);
        if (c != key.charAt(i)) {
          assertThat(ApiKey.parse(key.substring(0, i) + c + key.substring(i + 1))).isEmpty();
        }
      }
    }
  }

  /** The check as its definition says: CRC-32 in six base62 digits. */
  static String withCheck(String body) {
    CRC32 crc = new CRC32();
    crc.update(body.getBytes(StandardCharsets.US_ASCII));
    StringBuilder digits = new StringBuilder();
    long rest = crc.getValue();
    for (int i = 0; i < 6; i++) {
      digits.insert(0, BASE62.charAt((int) (rest % 62)));
      rest /= 62;
    }
    return body + digits;
  }
}
