package dev.coatcheck;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Users read the words of {@code docs/words.md}, and not the words that its last table refuses. */
class WordsTest {
  private static final int WORDS_MAX = 40;
  private static final Pattern STOP = Pattern.compile("[.:;!?][*)`]{0,3} ");
  private static final Pattern NAMES = Pattern.compile("(\\w+, ){20}");
  private static final Pattern ROW = Pattern.compile("\\| ([^|]+) \\| [^|]+ \\|");

  private static List<String> sentences = List.of();

  @BeforeAll
  static void readSentences() throws IOException, InterruptedException {
    sentences = sentences();
  }

  @Test
  void noSentenceUsesARefusedWord() throws IOException {
    Pattern refused =
        Pattern.compile("\\b(" + String.join("|", refused()) + ")\\b", Pattern.CASE_INSENSITIVE);

    assertThat(sentences).filteredOn(refused.asPredicate()).isEmpty();
    assertThat(sentences).as("of each kind").hasSizeGreaterThan(1_000);
    assertThat(String.join("\n", sentences))
        .contains("Another public ID already has this alias. Nothing was done.") // a problem
        .contains("Runs the gateway, with an embedded Postgres unless --database-url is given.")
        .contains("The table has no primary key.") // a plan
        .contains("Mint up to 1,000 public IDs") // the contract
        .contains("Any ID: a public ID, a key, a legacy ID") // a page of the console
        .contains("docs/operations.md:")
        .contains("The schema is brought up to date at the start"); // prose of a document
  }

  /** A list of names is no sentence: docs/a-request.md has the classes that run. */
  @Test
  void noSentenceOfADocumentHasMoreThanFortyWordsBetweenTwoStops() {
    List<String> documents =
        sentences.stream().filter(sentence -> sentence.contains(".md:")).toList();

    assertThat(documents)
        .filteredOn(
            sentence ->
                STOP.splitAsStream(sentence).anyMatch(part -> part.split(" ").length > WORDS_MAX))
        .filteredOn(sentence -> !NAMES.matcher(sentence).find())
        .isEmpty();
    assertThat(documents).as("sentences of documents").hasSizeGreaterThan(2_000);
  }

  private static List<String> refused() throws IOException {
    String table =
        Files.readString(Path.of("docs/words.md")).split("## Not used in sentences", 2)[1];
    return table
        .lines()
        .map(ROW::matcher)
        .filter(row -> row.matches() && !row.group(1).equals("not"))
        .flatMap(row -> List.of(row.group(1).split(", ")).stream())
        .map(Pattern::quote)
        .filter(word -> !word.contains("---"))
        .toList();
  }

  private static List<String> sentences() throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "build/Sentences.java")
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (var output = process.inputReader(StandardCharsets.UTF_8)) {
      List<String> lines = output.lines().collect(Collectors.toList());
      assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
      assertThat(process.exitValue()).isZero();
      return lines;
    }
  }
}
