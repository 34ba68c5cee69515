package dev.coatcheck.ids.registry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LegacyNumberTest {
  @ParameterizedTest
  @ValueSource(longs = {1, 9, 10, 4_711, 999_999_999_999_999_999L, Long.MAX_VALUE})
  void aNumberHasOneSpelling(long number) {
    assertThat(LegacyNumber.parse(Long.toString(number))).isEqualTo(OptionalLong.of(number));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "0",
        "-1",
        "007",
        "1.0",
        " 1",
        "9223372036854775808",
        "18446744073709551617",
        "٤٢",
        "1\u0000"
      })
  void anythingElseIsRefused(String text) {
    assertThat(LegacyNumber.parse(text)).isEmpty();
  }
}
