package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The pages under /docs say what the contract says, and ask for nothing from elsewhere. */
class DocsPagesTest {
  private static final List<String> FOLDERS =
      List.of("/docs/", "/META-INF/resources/webjars/swagger-ui/5.34.1/");
  private static final Map<String, ProblemRules.Code> CODES = Contract.withoutMemory().codes();

  /** The contract is the only source: {@code -Ddocs=write} writes both from it. */
  @Test
  void theListsOfErrorsSayWhatTheContractSays() throws IOException {
    Map<Path, String> pages =
        Map.of(
            Path.of("docs", "errors.md"), ErrorPages.markdown(CODES),
            Path.of("src/main/resources/docs/errors.html"), ErrorPages.html(CODES));
    for (Map.Entry<Path, String> page : pages.entrySet()) {
      if (Objects.equals(System.getProperty("docs"), "write")) {
        Files.writeString(page.getKey(), page.getValue());
      }
      assertThat(page.getKey())
          .as("run ./mvnw test -Dtest=DocsPagesTest -Ddocs=write")
          .hasContent(page.getValue());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"index.html", "errors.html"})
  void pagesKeepTheStrictestPolicy(String name) throws IOException {
    String page = page(name);

    assertThat(page).doesNotContain("style=", "<style", "javascript:", "http://", "https://");
    assertThat(page)
        .doesNotContainPattern("<script(?![^>]* src=)")
        .doesNotContainPattern(" on\\w+=");
    assertThat(page).doesNotContainPattern("(src|href)=\"//");
  }

  @ParameterizedTest
  @ValueSource(strings = {"index.html", "errors.html"})
  void everyAssetIsPackaged(String name) throws IOException {
    List<String> assets =
        Pattern.compile("(?:src|href)=\"/docs/assets/([^\"]+)\"")
            .matcher(page(name))
            .results()
            .map(match -> match.group(1))
            .toList();

    assertThat(assets).isNotEmpty();
    assertThat(assets)
        .allMatch(
            asset ->
                FOLDERS.stream()
                    .anyMatch(folder -> DocsPagesTest.class.getResource(folder + asset) != null));
  }

  private static String page(String name) throws IOException {
    try (InputStream page = DocsPagesTest.class.getResourceAsStream("/docs/" + name)) {
      return new String(Objects.requireNonNull(page).readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
