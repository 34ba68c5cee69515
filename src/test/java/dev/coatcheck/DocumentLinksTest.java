package dev.coatcheck;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The links of the documents lead to files that exist. */
class DocumentLinksTest {
  private static final Pattern LINK = Pattern.compile("]\\(([^)#:]+)(?:#[^)]*)?\\)");
  private static final Pattern WAY =
      Pattern.compile("(?ms)^## [^:\n]+: ([0-9]+) files$(.*?)(?=^## |\\z)");

  @Test
  void everyLinkLeadsToAFile() throws IOException {
    List<String> broken = new ArrayList<>();
    int links = 0;
    for (Path document : documents()) {
      for (String target : targets(Files.readString(document))) {
        links++;
        if (!Files.exists(document.toAbsolutePath().resolveSibling(target))) {
          broken.add(document + ": " + target);
        }
      }
    }

    assertThat(broken).isEmpty();
    assertThat(links).isGreaterThan(50);
  }

  @Test
  void eachWayThroughTheHouseHasAsManyFilesAsItsHeadingSays() throws IOException {
    List<MatchResult> ways =
        WAY.matcher(Files.readString(Path.of("docs/a-request.md"))).results().toList();

    assertThat(ways).hasSize(3);
    assertThat(ways)
        .allSatisfy(
            way ->
                assertThat(targets(way.group(2)).stream().distinct())
                    .hasSize(Integer.parseInt(way.group(1))));
  }

  private static List<String> targets(String text) {
    return LINK.matcher(text).results().map(link -> link.group(1)).toList();
  }

  private static List<Path> documents() throws IOException {
    List<Path> documents = new ArrayList<>();
    for (Path folder : List.of(Path.of("."), Path.of("docs"), Path.of("docs/edge"))) {
      try (Stream<Path> files = Files.list(folder)) {
        files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(documents::add);
      }
    }
    return documents;
  }
}
