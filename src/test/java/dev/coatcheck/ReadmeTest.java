package dev.coatcheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.postgres.embedded.TestHome;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Runs the examples of the README and of the tour as printed: each shell block that is followed by
 * its output, in one folder and in their order: the tour after the README, and by itself. Only the
 * port differs.
 */
class ReadmeTest {
  private static final String FENCE = "```";
  private static final Pattern LISTENS = Pattern.compile("Coatcheck listens on http://.*:(\\d+)");

  /** Ends each example's output: a character that no answer holds. */
  private static final String END = "\u001e";

  /** Sends again what a busy machine refuses for a moment. */
  private static final String PATIENT_CURL =
      """
      curl() {
        local answer
        for try in 1 2 3 4 5 6 7 8; do
          answer=$(command curl "$@"; printf x)
          case $answer in
            *'"status":503'* | 503*) sleep 1 ;;
            *) break ;;
          esac
        done
        printf %s "${answer%x}"
      }
      """;

  /** What differs from run to run: public IDs, times, request IDs. */
  private static final Pattern OWN =
      Pattern.compile(
          "(?<id>ch_[0-9A-Za-z]{24})|(?<time>\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z)|(?<request>req_[0-9a-z]+)");

  private record Example(String commands, String output) {}

  @BeforeAll
  static void tools() {
    for (String tool : List.of("bash", "curl")) {
      assumeTrue(CoatcheckProgram.isInstalled(tool), tool + " is not installed");
    }
  }

  @ParameterizedTest
  @CsvSource({"README.md docs/tour.md, 14", "README.md docs/http.md, 9", "docs/tour.md, 9"})
  @Tag("faults")
  @Tag("alone")
  void theExamplesPrintWhatThePagesShow(String pages, int examplesMin) throws Exception {
    List<Example> examples = new ArrayList<>();
    for (String page : pages.split(" ", -1)) {
      examples.addAll(examples(Files.readAllLines(Path.of(page))));
    }
    assertThat(examples).hasSizeGreaterThanOrEqualTo(examplesMin);
    Example serve = examples.getFirst();
    assertThat(serve.commands()).isEqualTo("./coatcheck serve\n");
    examples.removeIf(serve::equals); // each page shows it, alike
    try (TestHome home = TestHome.fresh()) {
      CoatcheckProgram.write(home.folder().resolve("coatcheck"));
      Process gateway = bash(home, serve.commands(), "0").start();
      try (BufferedReader output = gateway.inputReader()) {
        List<String> greeting = lines(output, (int) serve.output().lines().count());
        var listens = LISTENS.matcher(String.valueOf(greeting.getFirst()));
        assertThat(listens.matches()).as("%s", greeting).isTrue();
        String port = listens.group(1);
        assertThat(String.join("\n", greeting) + "\n").isEqualTo(onPort(port, serve.output()));

        List<String> printed = run(home, port, examples.stream().map(Example::commands).toList());
        assertThat(shapes(printed))
            .containsExactlyElementsOf(
                shapes(examples.stream().map(example -> onPort(port, example.output())).toList()));
      } finally {
        end(gateway);
      }
    }
  }

  @Test
  @Tag("faults")
  @Tag("alone")
  void theGreetingShowsHowToGetFromAPublicIdBackToItsRow() throws Exception {
    try (TestHome home = TestHome.fresh()) {
      CoatcheckProgram.write(home.folder().resolve("coatcheck"));
      Process gateway = bash(home, "./coatcheck serve", "0").start();
      try (BufferedReader output = gateway.inputReader()) {
        List<String> greeting = lines(output, 7);
        assertThat(greeting.getLast()).startsWith("Try it");
        List<String> commands = new ArrayList<>();
        while (output.ready()) { // all of it was written at once
          commands.add(output.readLine());
        }

        assertThat(run(home, "0", List.of(String.join("\n", commands) + "\n")).getFirst())
            .containsPattern("\\{\"object\":\"public_id\",\"id\":\"coat_.*\"key\":\"42\"");
      } finally {
        end(gateway);
      }
    }
  }

  private static List<String> lines(BufferedReader output, int count) throws IOException {
    List<String> lines = new ArrayList<>();
    while (lines.size() < count) {
      lines.add(output.readLine());
    }
    return lines;
  }

  private static void end(Process gateway) throws InterruptedException {
    gateway.descendants().forEach(ProcessHandle::destroy);
    gateway.destroy();
    assertThat(gateway.waitFor(300, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void anotherAnswerHasAnotherShape() {
    String one = "ch_00000000000000000000002B";
    String two = "ch_7n42DGM5Tflk9n8mt7Fhc7xU";

    assertThat(shapes(List.of(one, one))).isEqualTo(shapes(List.of(two, two)));
    assertThat(shapes(List.of(one, one))).isNotEqualTo(shapes(List.of(one, two)));
    assertThat(shapes(List.of("201"))).isNotEqualTo(shapes(List.of("200")));
    assertThat(shapes(List.of("{\"created_at\":\"2026-11-21T10:23:44.476210Z\"}")))
        .isEqualTo(shapes(List.of("{\"created_at\":\"2027-01-01T00:00:00Z\"}")))
        .isNotEqualTo(shapes(List.of("{\"created_at\":\"now\"}")));
  }

  /** Shell blocks with nothing but empty lines between them and a block of output. */
  private static List<Example> examples(List<String> lines) {
    List<Example> examples = new ArrayList<>();
    String commands = "";
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      if (line.startsWith(FENCE)) {
        StringBuilder block = new StringBuilder();
        for (i++; !lines.get(i).equals(FENCE); i++) {
          block.append(lines.get(i)).append('\n');
        }
        if (line.equals(FENCE + "text") && !commands.isEmpty()) {
          examples.add(new Example(commands, block.toString()));
        }
        commands = line.equals(FENCE + "sh") ? block.toString() : "";
      } else if (!line.isBlank()) {
        commands = "";
      }
    }
    return examples;
  }

  /** What each example prints, all run by one shell. */
  private static List<String> run(TestHome home, String port, List<String> commands)
      throws IOException, InterruptedException {
    StringBuilder script = new StringBuilder(PATIENT_CURL);
    for (String some : commands) {
      script.append(onPort(port, some)).append("printf '").append(END).append("'\n");
    }
    Process process = bash(home, script.toString(), port).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return List.of(output.split(END, -1)).subList(0, commands.size());
  }

  private static ProcessBuilder bash(TestHome home, String script, String port) {
    ProcessBuilder builder =
        new ProcessBuilder("bash", "-c", script)
            .directory(home.folder().toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().keySet().removeIf(name -> name.startsWith("COATCHECK_"));
    builder.environment().put("COATCHECK_PORT", port);
    return builder;
  }

  private static String onPort(String port, String text) {
    return text.replace(":8080", ":" + port);
  }

  /** The texts with what differs from run to run numbered in the order of its appearance. */
  private static List<String> shapes(List<String> texts) {
    Map<String, String> numbers = new HashMap<>();
    return texts.stream()
        .map(
            text ->
                OWN.matcher(text)
                    .replaceAll(
                        found -> {
                          String kind =
                              found.group("id") != null
                                  ? "ID"
                                  : found.group("time") != null ? "TIME" : "REQUEST";
                          return numbers.computeIfAbsent(found.group(), _ -> kind + numbers.size());
                        }))
        .toList();
  }
}
