package dev.coatcheck.ids.pattern;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.coatcheck.core.id.Prefix;
import java.time.Duration;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PublicPatternTest {
  private static final Prefix PREFIX = new Prefix("ch");

  @ParameterizedTest
  @CsvSource(
      delimiter = ' ',
      value = {
        "order-[0-9a-f]{4} order-09af true",
        "order-[0-9a-f]{4} order-09AF false",
        "order-[0-9a-f]{4} xorder-09af false",
        "order-[0-9a-f]{4} order-09aff false",
        "^(a|bc)+\\.v\\d$ abcbc.v7 true",
        "^(a|bc)+\\.v\\d$ abcb.v7 false",
        "a?b{2,3}c* bb true",
        "a?b{2,3}c* abbbcc true",
        "a?b{2,3}c* abbbb false",
        "(?:x[^y]){2,} xzxz true",
        "(?:x[^y]){2,} xzxy false",
        "(?:x[^y]){2,} xz false",
        "[\\w.-]{3} a_- true",
        "[\\w.-]{3} aé- false",
        "#x{0,}y #y true",
        "#x{0,}y #xxxy true"
      })
  void aPatternDescribesWholeTexts(String pattern, String text, boolean expected) {
    assertThat(accepted(pattern).matches(text)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "(",
        "a)",
        "()",
        "a||b",
        "|a",
        "a|",
        "*a",
        "a**",
        "a+?",
        "a{3,2}",
        "a{0}",
        "a{,3}",
        "a{1000}",
        "[",
        "[]",
        "[b-a]",
        "[a-\\d]",
        "[[:alpha:]]",
        "a\\",
        "\\b",
        "\\1",
        "\\pL",
        "(?i)a",
        "(?=a)b",
        "(?<n>a)",
        "a b",
        "é",
        "a^b",
        "a$b",
        "^a|b$",
        "a*",
        "x?",
        "((a{99}){99}){99}",
        "(((((((a{9}){9}){9}){9}){9}){9}){9}",
        "}",
        "]"
      })
  void whatIsNotUnderstoodIsRefused(String pattern) {
    assertThat(PublicPattern.parse(pattern, PREFIX))
        .isInstanceOf(PublicPattern.Parsed.Refused.class);
  }

  @Test
  void aPatternHasAtMost200Characters() {
    assertThat(accepted("a".repeat(200)).matches("a".repeat(200))).isTrue();
    assertThat(PublicPattern.parse("a".repeat(201), PREFIX))
        .isInstanceOf(PublicPattern.Parsed.Refused.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        ".*x?.",
        "ch_.{24}",
        "ch_[0-9]{24}",
        "[a-z]+_\\w+",
        "ch_0{22}2B",
        "\\w{27}",
        "(ab|ch)_z+",
        "ch_[0-9a-z]{20,}"
      })
  void aPatternThatCouldMatchOneOfOursIsRefused(String pattern) {
    assertThat(PublicPattern.parse(pattern, PREFIX))
        .isEqualTo(
            new PublicPattern.Parsed.Refused(
                "The pattern matches public IDs of this type. Write a pattern that matches only the"
                    + " IDs of the older system."));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"ch_.{23}", "ch_.{25}", "ch-.{24}", "cx_.{24}", "CH_.{24}", "ch_[^0-9A-Za-z]{24}"})
  void oneThatCannotIsAccepted(String pattern) {
    assertThat(accepted(pattern).toString()).isEqualTo(pattern);
  }

  /** java.util.regex takes longer than anyone's patience for each of these. */
  @ParameterizedTest
  @ValueSource(
      strings = {"(a+)+b", "(a|a)*b", "(a|aa)+b", "((a*)*)*b", "(a?){99}a{99}b", "([ab]*a){20}b"})
  void textsThatMakeOthersTryForEverAreAnsweredAtOnce(String pattern) {
    PublicPattern slow = accepted(pattern);

    assertTimeoutPreemptively(
        Duration.ofMinutes(2),
        () -> {
          for (int i = 0; i < 20; i++) {
            assertThat(slow.matches("a".repeat(255))).isFalse();
          }
        });
    assertThat(slow.matches("a".repeat(1_000_000))).isFalse();
  }

  @Test
  void itAgreesWithTheJdksMatcher() {
    long seed = Long.getLong("seed", System.nanoTime());
    Random random = new Random(seed);
    int matched = 0;
    for (int i = 0; i < 20_000; i++) {
      String pattern = "#" + pattern(random, 3);
      Pattern jdk = Pattern.compile(pattern);
      PublicPattern ours = accepted(pattern);
      for (int j = 0; j < 5; j++) {
        String text = "#" + text(random);
        boolean expected = jdk.matcher(text).matches();
        matched += expected ? 1 : 0;
        assertThat(ours.matches(text))
            .as("%s of %s, -Dseed=%s", text, pattern, seed)
            .isEqualTo(expected);
      }
    }
    assertThat(matched).isGreaterThan(1_000);
  }

  private static PublicPattern accepted(String pattern) {
    return switch (PublicPattern.parse(pattern, PREFIX)) {
      case PublicPattern.Parsed.Accepted(PublicPattern accepted) -> accepted;
      case PublicPattern.Parsed.Refused(String reason) ->
          throw new AssertionError(pattern + ": " + reason);
    };
  }

  private static String pattern(Random random, int depth) {
    return switch (random.nextInt(depth == 0 ? 4 : 9)) {
      case 0 -> "a";
      case 1 -> "b";
      case 2 -> "[ac]";
      case 3 -> "[^a]";
      case 4 -> "(" + pattern(random, depth - 1) + "|" + pattern(random, depth - 1) + ")";
      case 5 -> "(?:" + pattern(random, depth - 1) + ")" + "*+?".charAt(random.nextInt(3));
      case 6 -> "(" + pattern(random, depth - 1) + "){" + random.nextInt(3) + ",3}";
      default -> pattern(random, depth - 1) + pattern(random, depth - 1);
    };
  }

  private static String text(Random random) {
    StringBuilder text = new StringBuilder();
    for (int left = random.nextInt(7); left > 0; left--) {
      text.append("abc".charAt(random.nextInt(3)));
    }
    return text.toString();
  }
}
