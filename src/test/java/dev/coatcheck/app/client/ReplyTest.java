package dev.coatcheck.app.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Problems as a terminal shows them. */
class ReplyTest {
  private static final Pattern OPERATION =
      Pattern.compile("(GET|POST|PUT|PATCH|DELETE) /v1/[a-z{}/-]*[a-z}]");

  @Test
  void anErrorRecommendsAVerbWhereTheApiRecommendsAnOperation() throws IOException {
    List<String> operations = recommended();

    assertThat(operations).hasSizeGreaterThan(5);
    assertThat(operations).map(Reply::forTerminal).allMatch(verb -> verb.startsWith("coatcheck "));
    assertThat(
            Reply.forTerminal(
                "No type has this name. GET /v1/types lists the types; PUT /v1/types/{name} adds a"
                    + " type."))
        .isEqualTo(
            "No type has this name. coatcheck types list lists the types; coatcheck types put adds"
                + " a type.");
    assertThat(Reply.forTerminal("Send GET /v1/nothing.")).isEqualTo("Send GET /v1/nothing.");
  }

  /** In the sentences of the API, without those that only a browser or an application reads. */
  private static List<String> recommended() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of("src/main/java/dev/coatcheck"))) {
      return files
          .filter(file -> file.toString().endsWith(".java"))
          .filter(file -> !file.toString().matches(".*/(Retirement|LegacyAnswers)\\.java"))
          .flatMap(ReplyTest::sentences)
          .flatMap(sentence -> OPERATION.matcher(sentence).results())
          .map(MatchResult::group)
          .toList();
    }
  }

  private static Stream<String> sentences(Path file) {
    try {
      return Files.readAllLines(file).stream()
          .filter(
              line ->
                  line.matches(".*\"[^\"]*[a-z]{3} [^\"]*/v1/.*|.*\"[^\"]*/v1/\\S* [a-z]{3}.*"));
    } catch (IOException unreadable) {
      throw new IllegalStateException(unreadable);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "table_migration_refused | Each line says what to do.",
        "preconditions_not_accepted | add its code to --accept.",
        "table_migration_state | coatcheck migrate-table status prints the next command.",
      })
  void aRefusedRunSaysWhatToDoAtATerminal(String code, String next) {
    Map<String, String> problem =
        Map.of("title", "t", "code", code, "detail", "d.", "request_id", "req_1");

    assertThat(new Reply(409, Output.object(problem)).failure().getMessage()).contains(next);
  }

  @Test
  void linksThatWouldDieAreCountedAndTheFlagIsNamed() {
    CommandFailed failed =
        new Reply(
                409,
                Output.object(
                    Map.of(
                        "title",
                        "Links would die",
                        "code",
                        "links_would_die",
                        "detail",
                        "Send the request with confirm=links.",
                        "request_id",
                        "req_1",
                        "dying_links",
                        List.of(Map.of("param", "legacy", "detail", "They answer 404.")),
                        "legacy_hits_30_days",
                        1234,
                        "live_ids",
                        1_000_000,
                        "live_ids_exact",
                        false)))
            .failure();

    assertThat(failed)
        .hasMessage(
            """
            Links would die (links_would_die). The change ends links that have a target today. Nothing was changed. Add --confirm-links to end them. [req_1]
              legacy: They answer 404.
              1,000,000 public IDs of the type are live at least, and their legacy IDs were found 1,234 times in 30 days.\
            """
                .replace("\n", System.lineSeparator()));
  }
}
