package dev.coatcheck.app.cli;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.CoatcheckProgram;
import dev.coatcheck.Main;
import dev.coatcheck.TestJvm;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.app.client.ExitCode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** What holds for every verb. */
class CommandLineTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static final Path PAGE = Path.of("docs/command-line.md");

  @TempDir static Path folder;

  static List<CommandSpec> verbs() {
    return verbs(Cli.line()).toList();
  }

  private static Stream<CommandSpec> verbs(CommandLine command) {
    return command.getSubcommands().isEmpty()
        ? Stream.of(command.getCommandSpec())
        : command.getSubcommands().values().stream().flatMap(CommandLineTest::verbs);
  }

  @Test
  void everyVerbPrintsJson() {
    assertThat(verbs())
        .filteredOn(verb -> !verb.optionsMap().containsKey("--json"))
        .map(CommandSpec::qualifiedName)
        .containsExactly("coatcheck completion");
  }

  @Test
  void everyValueIsNamedInCapitals() {
    assertThat(verbs())
        .flatMap(CommandSpec::args)
        .filteredOn(argument -> argument.arity().max() > 0)
        .extracting(argument -> argument.paramLabel())
        .allMatch(label -> label.matches("[A-Z][A-Z_=/…-]*|[a-z]+[|][a-z]+"));
  }

  @Test
  void everyVerbHasAnExampleOfItself() {
    assertThat(verbs())
        .allSatisfy(
            verb ->
                assertThat(List.of(verb.usageMessage().footer()))
                    .as("one line, or all but the last end with \\; none is wrapped")
                    .allMatch(line -> line.length() < 79)
                    .first()
                    .asString()
                    .startsWith("  " + verb.qualifiedName()));
    assertThat(Terminal.run("types", "set", "--help").out())
        .endsWith("\nExample:\n  coatcheck types set charge --redirect-max-age-seconds 60\n");
  }

  @Test
  void thePageNamesEveryVerb() throws Exception {
    String page = Files.readString(PAGE);

    assertThat(verbs())
        .hasSizeGreaterThan(40)
        .allSatisfy(
            verb -> {
              String words = verb.qualifiedName().substring("coatcheck ".length());
              assertThat(page)
                  .containsAnyOf(
                      words,
                      "`" + words.replaceFirst("(migrate-table|access|segments|keys) ", "") + "`");
            });
  }

  /** A value stands for each expression, and both texts for one that chooses. */
  @Test
  void theConsolePrintsCommandsThatThereAre() throws Exception {
    Pattern command = Pattern.compile("(?:<code>|^)coatcheck ([^<]+)");
    Pattern choice = Pattern.compile("\\$\\{[^}]*\\? \"([^\"]*)\" : \"([^\"]*)\"}");
    List<String> commands = new ArrayList<>();
    try (Stream<Path> files = Files.walk(Path.of("src/main/jte"))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Files.readAllLines(file).stream()
            .flatMap(line -> command.matcher(line).results())
            .map(found -> found.group(1))
            .flatMap(
                text ->
                    Stream.of("$1", "$2")
                        .map(chosen -> choice.matcher(text).replaceAll(chosen))
                        .distinct())
            .map(text -> text.replaceAll("\\$\\{[^}]*}", "VALUE").replace("'", ""))
            .forEach(commands::add);
      }
    }

    assertThat(commands).hasSizeGreaterThan(25).allSatisfy(CommandLineTest::requireParsed);
  }

  /** A verb alone names itself, also where it would need more. */
  private static void requireParsed(String command) {
    String[] words = command.split(" +");
    try {
      Cli.line(words).parseArgs(words);
    } catch (CommandLine.MissingParameterException missing) {
      assertThat("coatcheck " + command)
          .as(missing.getMessage())
          .isEqualTo(missing.getCommandLine().getCommandSpec().qualifiedName());
    }
  }

  @Test
  void thePageAndTheHelpHaveTheSameExitCodes() throws Exception {
    assertThat(Files.readString(PAGE))
        .contains(
            Arrays.stream(ExitCode.values())
                .map(code -> "| " + code.status() + " | " + code.meaning() + " |\n")
                .reduce("| code | |\n|---|---|\n", String::concat));
    assertThat(Terminal.run("--help").out())
        .contains("\nExit codes:\n")
        .containsPattern("(?m)^ +143 +Ended by SIGTERM");
  }

  @Test
  void withoutAVerbTheHelpIsPrintedAndTheCommandIsMisused() {
    Terminal bare = Terminal.run();

    assertThat(bare).isEqualTo(new Terminal(2, Terminal.run("--help").out(), ""));
    assertThat(bare.out()).contains("Usage: coatcheck ", "  find ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"migrate-table set 7", "migrate-table status --watch", "keys bounds"})
  void anErrorNamesTheVerbAndNotItsGroup(String words) {
    String verb = words.replaceFirst(" (7|--watch)$", "");

    assertThat(Terminal.run(words.split(" ")).err())
        .startsWith("coatcheck " + verb + ": ")
        .endsWith("Help: coatcheck " + verb + " --help\n");
  }

  @Test
  void anErrorComesFirstAndThenThreeLines() {
    Terminal verb = Terminal.run("types", "put", "charge", "--prefx=ch");
    assertThat(verb.status()).isEqualTo(2);
    assertThat(verb.out()).isEmpty();
    assertThat(verb.err())
        .isEqualTo(
            """
            coatcheck types put: Unknown option: '--prefx=ch'. Did you mean --prefix?
            Usage: coatcheck types put [OPTIONS] NAME
            Example: coatcheck types put charge --prefix ch --redirect https://shop.example/charges/{id}
            Help: coatcheck types put --help
            """);

    assertThat(Terminal.run("serve", "--prot", "8081").err())
        .startsWith("coatcheck serve: Unknown options: '--prot', '8081'. Did you mean --port?");
    assertThat(Terminal.run("mnit").err()).contains("'mnit'. Did you mean mint?");
    assertThat(Terminal.run("types", "put", "x", "--legacy-sunset").err())
        .contains("Did you mean --legacy-sunset-at or --legacy-sunset-link?");
    assertThat(Terminal.run("nothing").err()).doesNotContain("Did you mean");
    // Two edits make anything of two letters.
    assertThat(Terminal.run("ls").err()).doesNotContain("Did you mean");

    Terminal group = Terminal.run("types");
    assertThat(group.status()).isEqualTo(2);
    assertThat(group.err())
        .isEqualTo(
            """
            coatcheck types: Missing required subcommand
            Usage: coatcheck types [OPTIONS] COMMAND
            Commands: plan, apply, export, generate, seal-key, diff, era, get, legacy-callers, legacy-hits, list, pin, put, set
            Help: coatcheck types --help
            """);
  }

  @Test
  void anErrorOfTheGatewayNamesTheVerbAndTheFlag() {
    assertThat(
            AtGateway.run("types", "put", "wrong", "--prefix=w", "--redirect=ftp://a.example")
                .err())
        .startsWith("coatcheck types put: --redirect: ")
        .contains("(redirect_template_refused)");
    assertThat(AtGateway.run("keys", "next", "--count=0").err())
        .startsWith("coatcheck keys next: --count: ");
  }

  @Test
  @Tag("faults")
  void theApiKeyCanBeInAVariableAndAFlagWinsOverIt() throws Exception {
    String key = GATEWAY.key();
    Path right = Files.writeString(folder.resolve("right"), key);
    Path wrong = Files.writeString(folder.resolve("wrong"), "wrong");

    assertThat(typesList("COATCHECK_API_KEY=" + key)).isZero();
    assertThat(typesList("COATCHECK_API_KEY=" + key, "COATCHECK_KEY_FILE=" + wrong)).isZero();
    assertThat(typesList("COATCHECK_KEY_FILE=" + right)).isZero();
    assertThat(typesList("COATCHECK_API_KEY=wrong", "COATCHECK_KEY_FILE=" + right)).isEqualTo(1);
    assertThat(typesList("COATCHECK_API_KEY=wrong", "--key-file=" + right)).isZero();
  }

  /** The status of {@code types list} with some variables and flags. */
  private static int typesList(String... settings) throws Exception {
    List<String> arguments = new ArrayList<>(List.of("types", "list", "--url=" + GATEWAY.uri()));
    Arrays.stream(settings).filter(one -> one.startsWith("--")).forEach(arguments::add);
    ProcessBuilder builder = TestJvm.running(Main.class, arguments.toArray(String[]::new));
    builder.environment().keySet().removeIf(name -> name.startsWith("COATCHECK_"));
    Arrays.stream(settings)
        .filter(one -> one.startsWith("COATCHECK_"))
        .forEach(
            one ->
                builder
                    .environment()
                    .put(one.replaceFirst("=.*", ""), one.replaceFirst(".*?=", "")));
    Process process = builder.redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    return process.waitFor();
  }

  @Test
  void atATerminalRowsAreATableAndElsewhereCsv() throws Exception {
    requireInstalled("script");
    AtGateway.run("types", "put", "seen", "--prefix=seen");
    Path program = CoatcheckProgram.write(folder.resolve("coatcheck"));
    String verb = String.join(" ", AtGateway.arguments(program.toString(), "types", "list"));

    assertThat(output("script", "-qec", verb, "/dev/null").replace("\r", ""))
        .containsPattern("(?m)^name +prefix +key +generate +redirect +url_templates$")
        .containsPattern("(?m)^seen +seen +bigint +snowflake$");
    assertThat(output("sh", "-c", verb)).contains("seen,seen,bigint,snowflake,,\n");
  }

  @Test
  void resultsForProgramsAreUtf8InEveryLocale() throws Exception {
    AtGateway.run("types", "put", "ended", "--prefix=ended");
    String id = GATEWAY.client().mint("ended").text("/id");
    GATEWAY.client().post("/v1/ids/" + id + "/revoke", json("reason", "gelöscht"));
    ProcessBuilder find = TestJvm.running(Main.class, AtGateway.arguments("find", id));
    find.environment().put("LC_ALL", "C");

    Process process = find.start();

    assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
        .contains("ended_reason,gelöscht\n");
    assertThat(process.waitFor()).isZero();
  }

  @Test
  void numbersHaveTheSameDigitsInEveryLocale() throws Exception {
    ProcessBuilder serve = TestJvm.running(Main.class, "serve", "--limit-key=many");
    serve.environment().put("JAVA_TOOL_OPTIONS", "-Duser.language=ar -Duser.country=EG");

    Process process = serve.redirectErrorStream(true).start();

    assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
        .contains("1 to 1000000 requests in 1 to 3600 seconds");
    assertThat(process.waitFor()).isEqualTo(2);
  }

  @Test
  void anAddressThatIsNoneNamesAllThatSetIt() {
    assertThat(Terminal.run("types", "list", "--url=http://a b"))
        .satisfies(refused -> assertThat(refused.status()).isEqualTo(2))
        .satisfies(
            refused ->
                assertThat(refused.err()).contains("--url, COATCHECK_URL or COATCHECK_PORT"));
  }

  /** A pipe without a writer would be waited for. */
  @Test
  void aNamedPipeIsNoFileOfAnApiKeyOrOfTypes() throws Exception {
    String pipe = folder.resolve("pipe").toString();
    output("mkfifo", pipe);

    assertThat(AtGateway.run("types", "list", "--key-file=" + pipe))
        .isEqualTo(
            new Terminal(
                2,
                "",
                "coatcheck types list: can't read the API key from %s: it is a named pipe. Name the file of an API key with --key-file, or set COATCHECK_API_KEY.\n"
                    .formatted(pipe)));
    for (String[] verb :
        List.of(
            new String[] {"types", "plan", "--file=" + pipe},
            new String[] {"types", "put", "piped", "--file=" + pipe})) {
      Terminal refused = AtGateway.run(verb);
      assertThat(refused.status()).isEqualTo(2);
      assertThat(refused.err())
          .contains("it is a named pipe. Name a file, or - for standard input.")
          .hasLineCount(1);
    }
    assertThat(Terminal.run("types", "seal-key", "list", "--file=" + pipe).err())
        .contains(pipe + " can't be read: it is a named pipe.")
        .hasLineCount(1);
    assertThat(AtGateway.run("ids", "import", pipe, "--format=csv"))
        .isEqualTo(
            new Terminal(
                2,
                "",
                "coatcheck ids import: %s is no regular file. Send it by standard input, with -.\n"
                    .formatted(pipe)));
  }

  @Test
  void aNamedPipeIsNoFileOfPinsOfSaltsOrOfCertificates() throws Exception {
    Path pipe = folder.resolve("other-pipe");
    output("mkfifo", pipe.toString());
    Path types =
        Files.writeString(
            folder.resolve("types.yaml"),
            """
            types:
              salted:
                prefix: salted
                key: bigint
                public_rule: {scheme: hashids, salt: {file: other-pipe}}
            """);

    assertThat(AtGateway.run("types", "pin", "piped", "--era=x", "--file=" + pipe))
        .isEqualTo(
            new Terminal(
                2,
                "",
                "coatcheck types pin: can't read keys from %s: it is a named pipe. Name a file, or - for standard input.\n"
                    .formatted(pipe)));
    Terminal salted = AtGateway.run("types", "plan", "--file=" + types);
    assertThat(salted.status()).isEqualTo(2);
    assertThat(salted.err()).contains("The file other-pipe with the salt can't be read.");
    Path key = Files.writeString(folder.resolve("key"), "ccg_live_any");
    assertThat(
            Terminal.run(
                    "types",
                    "list",
                    "--url=https://127.0.0.1:1",
                    "--key-file=" + key,
                    "--ca-file=" + pipe)
                .err())
        .isEqualTo(
            "coatcheck types list: can't read certificates in PEM from %s: it is a named pipe.\n"
                .formatted(pipe));
  }

  private static void requireInstalled(String tool) {
    assumeTrue(CoatcheckProgram.isInstalled(tool), tool + " is not installed");
  }

  private static String output(String... command) throws Exception {
    Process process =
        new ProcessBuilder(command)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).isZero();
    return output;
  }

  @Test
  void bashCompletesVerbsAndFlags() throws Exception {
    Path script =
        Files.writeString(folder.resolve("completion"), Terminal.run("completion", "bash").out());

    assertThat(completed(script, "coatcheck", "fi")).contains("find");
    assertThat(completed(script, "coatcheck", "types", "d")).contains("diff");
    assertThat(completed(script, "coatcheck", "types", "set", "--conf"))
        .contains("--confirm-links");
    assertThat(Terminal.run("completion", "zsh").out()).contains("bashcompinit");
  }

  private static String completed(Path script, String... words) throws Exception {
    return output(
        "bash",
        "-c",
        ". \"$0\"; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1));"
            + " _complete_coatcheck coatcheck \"${@: -1}\"; echo \"${COMPREPLY[@]}\"",
        script.toString(),
        words[0],
        words[1],
        words.length > 2 ? words[2] : "",
        words.length > 3 ? words[3] : "");
  }

  @Test
  void fishCompletesVerbsAndFlags() {
    Terminal script = Terminal.run("completion", "fish");

    assertThat(script.lines())
        .contains("complete -c coatcheck -f")
        .anyMatch(
            line ->
                line.startsWith(
                    "complete -c coatcheck -n '__fish_use_subcommand' -a find -d 'Says what a"))
        .anyMatch(
            line ->
                line.startsWith(
                    "complete -c coatcheck -n '__fish_seen_subcommand_from types; and"
                        + " __fish_seen_subcommand_from set' -l confirm-links -d '"))
        .allMatch(
            line -> line.chars().filter(c -> c == '\'').count() % 2 == 0 || line.contains("\\'"));
    for (CommandSpec verb : verbs()) {
      assertThat(script.out()).contains(" -a " + verb.name() + " -d '");
    }
  }

  @Test
  void fishReadsItsCompletions() throws Exception {
    requireInstalled("fish");
    Path file =
        Files.writeString(
            folder.resolve("completion.fish"), Terminal.run("completion", "fish").out());
    assertThat(output("fish", "-c", "source " + file + "; complete -C 'coatcheck types d'"))
        .contains("diff");
  }

  @ParameterizedTest
  @ValueSource(strings = {"tcsh", "", "BASH"})
  void noOtherShellIsCompleted(String shell) {
    Terminal refused = Terminal.run("completion", shell);

    assertThat(refused.status()).isEqualTo(2);
    assertThat(refused.err()).contains("SHELL must be bash, zsh or fish.");
  }
}
