package dev.coatcheck.migrate.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SearchPathTest {
  @Test
  void itIsReadAsPostgresPrintsIt() {
    assertThat(SearchPath.parse("\"$user\", public")).contains(SearchPath.USUAL);
    assertThat(SearchPath.parse(" App ,\"My, \"\"Schema\"\"\",$user "))
        .map(SearchPath::schemas)
        .contains(List.of("app", "My, \"Schema\"", "$user"));
    assertThat(SearchPath.parse("\"\""))
        .as("none, as hardened roles have it")
        .map(SearchPath::schemas)
        .contains(List.of("pg_catalog"));
  }

  @Test
  void itsTextIsReadAsTheSame() {
    SearchPath odd = new SearchPath(List.of("a\"b", "default", "C d", "größe", "$user"));

    assertThat(SearchPath.parse(odd.text())).contains(odd);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {",", "a,", ",a", "a b", "a;b", "\"a", "a\"", "\"a\"b", "a,,b", "'a'", "a\0"})
  void whatIsMalformedIsNone(String text) {
    assertThat(SearchPath.parse(text)).isEmpty();
    assertThat(SearchPath.parse("x".repeat(64))).isEmpty();
  }
}
