package dev.coatcheck.api.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ContentNegotiationTest {
  private static final List<String> LANGUAGES = List.of("en", "de", "pt-BR", "zh-Hant");

  @ParameterizedTest
  @ValueSource(
      strings = {
        // Chrome, Firefox and Safari
        "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,"
            + "*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
        "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        "text/html",
        "TEXT/HTML; Q=0.3",
        "text/html;charset=utf-8;q=0.9, application/json;q=0.8",
        "text/*, */*;q=0.1",
        "*/*, application/json;q=0.5, application/problem+json;q=0.1"
      })
  void whoPrefersHtmlIsABrowser(String accept) {
    assertThat(ContentNegotiation.prefersHtml(List.of(accept))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "*/*",
        "",
        ",",
        ";",
        "application/json",
        "application/json, text/plain, */*",
        "application/problem+json, text/html;q=0.9",
        "text/html, application/json",
        "text/html, */*",
        "text/html;q=0",
        "text/html;q=0.000, application/json;q=0",
        "*/*, text/html;q=0.9",
        "text/html;q=2",
        "text/html;q=-1",
        "text/html;q=NaN",
        "text/html;q=1.0000",
        "application/*, text/html;q=0.999",
        "text/htmlx",
        "html"
      })
  void whoDoesNotIsNone(String accept) {
    assertThat(ContentNegotiation.prefersHtml(List.of(accept))).isFalse();
  }

  @Test
  void aClientWithoutTheHeaderIsNoBrowserAndSeveralHeadersAreOneList() {
    assertThat(ContentNegotiation.prefersHtml(List.of())).isFalse();
    assertThat(ContentNegotiation.prefersHtml(List.of("text/html", "*/*;q=0.5"))).isTrue();
    assertThat(ContentNegotiation.prefersHtml(List.of("text/html", "*/*"))).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          de                          | de
          de-AT                       | de
          de-Latn-AT-1996             | de
          DE                          | de
          fr, de;q=0.5, en;q=0.7      | en
          pt-br                       | pt-BR
          zh-Hant-TW                  | zh-Hant
          zh-Hant-x-private           | zh-Hant
          fr-CH, fr;q=0.9, *;q=0.5    |
          pt                          |
          zh-Hans                     |
          en;q=0                      |
          de;q=0, en;q=0.1            | en
          *                           |
          -                           |
          --                          |
          e                           |
          """)
  void theLanguageIsThatWhichIsAskedForFirst(String acceptLanguage, String language) {
    assertThat(ContentNegotiation.language(List.of(acceptLanguage), LANGUAGES).orElse(null))
        .isEqualTo(language);
  }

  @Test
  void ofALongHeaderTheFirstRangesAreLookedAt() {
    String many = String.join(",", Collections.nCopies(3_000, "a"));
    String deep = "a" + "-a".repeat(4_000);

    assertThat(ContentNegotiation.language(List.of("de," + many), LANGUAGES)).contains("de");
    assertThat(ContentNegotiation.language(List.of(many + ",de"), LANGUAGES)).isEmpty();
    assertThat(ContentNegotiation.language(List.of(deep), List.of("a"))).isEmpty();
    assertThat(ContentNegotiation.prefersHtml(List.of("text/html," + many))).isTrue();
    assertThat(ContentNegotiation.prefersHtml(List.of(many, "text/html"))).isFalse();
  }
}
