package dev.coatcheck.core.id;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PrefixTest {
  private static final Pattern GRAMMAR =
      Pattern.compile("(?=.{1,32}\\z)[a-z][a-z0-9]*(?:_[a-z0-9]+)*", Pattern.DOTALL);

  @ParameterizedTest
  @ValueSource(strings = {"c", "ch", "sk_live", "a_0_0", "a23456789012345678901234567890_2"})
  void grammaticalPrefixesAreTaken(String text) {
    assertThat(Prefix.parse(text)).contains(new Prefix(text));
    assertThat(new Prefix(text)).hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "_",
        "1a",
        "A",
        "_a",
        "a_",
        "a__b",
        "a-b",
        "a\n",
        "é",
        "a234567890123456789012345678901_3"
      })
  void otherPrefixesAreRefused(String text) {
    assertThat(Prefix.parse(text)).isEmpty();
    assertThatIllegalArgumentException().isThrownBy(() -> new Prefix(text));
  }

  @Test
  void theGrammarIsThatOfTheRegularExpression() {
    SeededRandom.check(
        200_000,
        random -> {
          StringBuilder text = new StringBuilder();
          for (int length = random.below(36); length > 0; length--) {
            text.append("abz09_".charAt(random.below(6)));
          }
          if (random.below(4) == 0) {
            text.append(random.anyCharacter());
          }
          assertThat(Prefix.isValid(text)).isEqualTo(GRAMMAR.matcher(text).matches());
        });
  }
}
