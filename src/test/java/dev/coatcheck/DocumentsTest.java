package dev.coatcheck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.Setting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The README and {@code docs/} speak of what is there. */
class DocumentsTest {
  private static final Path README = Path.of("README.md");
  private static final Path CONFIGURATION = Path.of("docs", "configuration.md");

  /** The table's head, and its rows. */
  private static final Pattern SETTINGS =
      Pattern.compile("(\\| variable \\| flag \\| default \\| \\|\n.*\n)(?:\\|.*\n)*");

  private static final Pattern TEST = Pattern.compile("`([A-Z]\\w*Test)(?:\\.(\\w+))?`");
  private static final Pattern PROMISE =
      Pattern.compile("(?m)^\\| (\\d\\w*) \\| .* \\| .* \\| (.*) \\| (.*) \\|$");
  private static final Pattern LINK =
      Pattern.compile("\\]\\(([^)#\\s:]+)(?:#[^)]*)?\\)|src(?:set)?=\"([^\"]+)\"");

  private static final Pattern ANCHOR = Pattern.compile("\\]\\(([^)#\\s:]*)#([^)\\s]+)\\)");

  @Test
  void theReadmeIsShort() throws IOException {
    String readme = Files.readString(README);

    assertThat(words(readme)).isBetween(300L, 1_000L);
    assertThat(words("one, two - `three`\n\n| 4 |")).isEqualTo(4);
    assertThat(picture("parts-dark.svg")).isEqualTo(picture("parts.svg"));
    assertThat(readme).contains("srcset=\"docs/parts-dark.svg\"", "src=\"docs/parts.svg\"");
  }

  private static long words(String text) {
    return Pattern.compile("\\s+")
        .splitAsStream(text)
        .filter(word -> word.chars().anyMatch(Character::isLetterOrDigit))
        .count();
  }

  /** A picture without its colours. */
  private static String picture(String name) throws IOException {
    return Files.readString(Path.of("docs", name)).replaceAll("#[0-9a-f]{6}", "#");
  }

  @Test
  void theConfigurationPageListsTheSettings() throws IOException {
    String page = Files.readString(CONFIGURATION);
    String listed =
        SETTINGS
            .matcher(page)
            .replaceFirst(table -> Matcher.quoteReplacement(table.group(1) + settings()));
    if (Objects.equals(System.getProperty("docs"), "write")) {
      Files.writeString(CONFIGURATION, listed);
    }
    assertThat(CONFIGURATION)
        .as("run ./mvnw test -Dtest=DocumentsTest -Ddocs=write to write it")
        .hasContent(listed);
    assertThat(listed).contains("| `COATCHECK_PORT` | `--port` | 8080 | Port of the gateway");
  }

  private static String settings() {
    return Arrays.stream(Setting.values())
        .map(
            setting ->
                "| `%s` | %s | %s | %s |\n"
                    .formatted(
                        setting.variable(),
                        setting.isSecret() ? "–" : "`" + setting.flag() + "`",
                        setting.otherwise().orElse("–"),
                        setting.description()))
        .collect(Collectors.joining());
  }

  @Test
  void theConfigurationPageListsWhatRegistersASource() throws IOException {
    String page = Files.readString(CONFIGURATION);
    for (String ending : List.of("URL", "USER", "PASSWORD")) {
      assertThat(page).contains("\n| `COATCHECK_SOURCE_<NAME>_" + ending + "` | ");
      assertThat(Config.read(Map.of("COATCHECK_SOURCE_A_" + ending, "x"), Map.of()))
          .isInstanceOfSatisfying(
              Config.Parsed.Invalid.class,
              invalid -> assertThat(invalid.faults()).noneMatch(fault -> fault.contains("end in")));
    }
  }

  @Test
  void everyTestThatIsNamedIsThere() throws IOException {
    List<String> missing = new ArrayList<>();
    int named = 0;
    for (Path document : documents()) {
      for (MatchResult test : TEST.matcher(Files.readString(document)).results().toList()) {
        named++;
        String method = test.group(2);
        if (!isThere(test.group(1), method == null ? "" : method)) {
          missing.add(document + ": " + test.group());
        }
      }
    }
    assertThat(missing).isEmpty();
    assertThat(named).isGreaterThan(20);
    assertThat(isThere("NoSuchTest", "")).isFalse();
    assertThat(isThere("DocumentsTest", "noSuchPromise")).isFalse();
  }

  @Test
  void everyLinkLeadsSomewhere() throws IOException {
    List<String> broken = new ArrayList<>();
    int links = 0;
    for (Path document : documents()) {
      for (String target : targets(Files.readString(document))) {
        links++;
        if (!Files.exists(document.resolveSibling(target))) {
          broken.add(document + ": " + target);
        }
      }
    }
    assertThat(broken).isEmpty();
    assertThat(links).isGreaterThan(50);
  }

  @Test
  void everyDocumentIsTwoLinksFromTheReadmeAtMost() throws IOException {
    Set<Path> reached = new HashSet<>(Set.of(README));
    for (int hop = 1; hop <= 2; hop++) {
      for (Path document : List.copyOf(reached)) {
        for (String target : targets(Files.readString(document))) {
          Path file = document.resolveSibling(target).normalize();
          if (target.endsWith(".md") && Files.exists(file)) {
            reached.add(file);
          }
        }
      }
    }

    assertThat(documents().stream().map(Path::normalize)).isSubsetOf(reached);
  }

  @Test
  void everyAnchorIsAHeading() throws IOException {
    List<String> broken = new ArrayList<>();
    int anchors = 0;
    for (Path document : documents()) {
      for (MatchResult link : ANCHOR.matcher(Files.readString(document)).results().toList()) {
        Path page =
            link.group(1).isEmpty() ? document : document.resolveSibling(link.group(1)).normalize();
        if (page.toString().endsWith(".md")) {
          anchors++;
          if (!anchors(Files.readString(page)).contains(link.group(2))) {
            broken.add(document + ": " + link.group());
          }
        }
      }
    }
    assertThat(broken).isEmpty();
    assertThat(anchors).isGreaterThan(100);
    assertThat(anchors("## A `b_c`, d!\n")).contains("a-b_c-d");
  }

  /** As GitHub makes them of headings, and those that a page names itself. */
  private static Set<String> anchors(String page) {
    return Pattern.compile("(?m)^#+ (.*)$|<a id=\"(.*)\">")
        .matcher(page)
        .results()
        .map(
            anchor ->
                anchor.group(2) != null
                    ? anchor.group(2)
                    : anchor
                        .group(1)
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\d_ -]", "")
                        .replace(' ', '-'))
        .collect(Collectors.toSet());
  }

  private static List<String> targets(String text) {
    return LINK.matcher(text)
        .results()
        .map(link -> link.group(1) == null ? link.group(2) : link.group(1))
        .toList();
  }

  /** The tests of a promise that stand in a column have what the column says. */
  @Test
  void everyPromiseIsProvedInVerifyAndTheTableSaysWhatIsLeftToFaults() throws IOException {
    List<String> wrong = new ArrayList<>();
    int promises = 0;
    for (MatchResult row :
        PROMISE.matcher(Files.readString(Path.of("docs/guarantees.md"))).results().toList()) {
      promises++;
      List<String> inVerify = tests(row.group(2));
      if (inVerify.isEmpty()) {
        wrong.add(row.group(1) + " has no test in verify");
      }
      for (String test : inVerify) {
        if (Faults.of(test) == Faults.ALL) {
          wrong.add(row.group(1) + ": " + test + " runs under faults only");
        }
      }
      for (String test : tests(row.group(3))) {
        if (Faults.of(test) == Faults.NONE) {
          wrong.add(row.group(1) + ": " + test + " has no test under faults");
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(promises).isGreaterThan(30);
  }

  private static List<String> tests(String column) {
    return TEST.matcher(column).results().map(test -> test.group(1)).toList();
  }

  /** How much of a class is tagged {@code faults}. */
  private enum Faults {
    NONE,
    SOME,
    ALL;

    static Faults of(String test) throws IOException {
      try (Stream<Path> files = Files.walk(Path.of("src/test/java"))) {
        String source =
            Files.readString(
                files.filter(path -> path.endsWith(test + ".java")).findFirst().orElseThrow());
        if (source.contains("\n@Tag(\"faults\")")) {
          return ALL;
        }
        long tagged =
            Pattern.compile("\\n  @Tag\\(\"faults\"\\)").matcher(source).results().count();
        long all =
            Pattern.compile("\\n  @(Test|ParameterizedTest|RepeatedTest)\\b")
                .matcher(source)
                .results()
                .count();
        return tagged == 0 ? NONE : tagged < all ? SOME : ALL;
      }
    }
  }

  private static boolean isThere(String test, String method) throws IOException {
    for (String tests : List.of("src/test/java", "clients/java")) {
      try (Stream<Path> files = Files.walk(Path.of(tests))) {
        for (Path file : files.filter(path -> path.endsWith(test + ".java")).toList()) {
          if (method.isEmpty() || Files.readString(file).contains("void " + method + "(")) {
            return true;
          }
        }
      }
    }
    return false;
  }

  private static List<Path> documents() throws IOException {
    try (Stream<Path> top = Files.list(Path.of("."));
        Stream<Path> docs = Files.walk(Path.of("docs"))) {
      return Stream.concat(top, docs).filter(path -> path.toString().endsWith(".md")).toList();
    }
  }
}
