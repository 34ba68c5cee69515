package dev.coatcheck.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeyKindTest {
  @ParameterizedTest
  @ValueSource(strings = {"0", "1", "10", "9007199254740993", "9223372036854775807"})
  void canonicalBigintsComeBackAsTheyWere(String text) {
    assertThat(KeyKind.BIGINT.parse(text)).map(Key::text).contains(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "01",
        "-1",
        "1.0",
        " 1",
        "١",
        "1\u0000",
        "9223372036854775808",
        "18446744073709551616",
        "99999999999999999999"
      })
  void anyOtherSpellingOfABigintIsRefused(String text) {
    assertThat(KeyKind.BIGINT.parse(text)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "0190163d-8694-739b-aea5-966c26f8ad91",
        "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
      })
  void canonicalUuidsComeBackAsTheyWere(String text) {
    assertThat(KeyKind.UUID.parse(text)).map(Key::text).contains(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "0190163D-8694-739b-aea5-966c26f8ad91",
        "{0190163d-8694-739b-aea5-966c26f8ad9}",
        "0190163d-8694-739b-aea5-966c26f8ad9",
        "0190163d-8694-739b-aea5-966c26f8ad911",
        "0190163d-8694-739b-aea50-966c26f8ad9",
        "0190163d-8694-739b-aea5-966c26f8ad9g",
        "0190163d-8694-739b-aea5-966c26f8ad9１"
      })
  void anyOtherSpellingOfAUuidIsRefused(String text) {
    assertThat(KeyKind.UUID.parse(text)).isEmpty();
  }

  @Test
  void bytesAreBigEndian() {
    Key bigint = KeyKind.BIGINT.parse("72623859790382856").orElseThrow();
    Key uuid = KeyKind.UUID.parse("0190163d-8694-739b-aea5-966c26f8ad91").orElseThrow();
    assertThat(HexFormat.of().formatHex(bigint.toBytes())).isEqualTo("0102030405060708");
    assertThat(HexFormat.of().formatHex(uuid.toBytes()))
        .isEqualTo("0190163d8694739baea5966c26f8ad91");
  }
}
