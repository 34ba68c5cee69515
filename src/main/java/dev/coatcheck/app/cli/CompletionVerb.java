package dev.coatcheck.app.cli;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.Misused;
import dev.coatcheck.app.client.Output;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code coatcheck completion}: the verbs and flags, for the Tab key of a shell. */
@Command(
    name = "completion",
    description = {
      "Prints a script that completes verbs and flags in a shell.",
      "bash and zsh: source <(coatcheck completion bash). fish: coatcheck completion fish | source"
    },
    footer = "  coatcheck completion bash")
final class CompletionVerb implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "SHELL", description = "bash, zsh or fish.")
  private String shell;

  @Override
  public Integer call() throws CommandFailed {
    String script =
        switch (shell) {
          case "bash", "zsh" -> AutoComplete.bash(Cli.NAME, Cli.line());
          case "fish" -> fish(Cli.line().getCommandSpec());
          default -> throw new Misused("SHELL must be bash, zsh or fish.");
        };
    PrintWriter out = spec.commandLine().getOut();
    out.print(script);
    Output.requireReader(out);
    return 0;
  }

  private static String fish(CommandSpec root) {
    return Stream.concat(Stream.of("complete -c " + Cli.NAME + " -f"), fish(root, List.of()))
        .collect(Collectors.joining("\n", "", "\n"));
  }

  /** A line for each command and each flag of a command, which is named by the words to it. */
  private static Stream<String> fish(CommandSpec command, List<String> words) {
    String seen =
        words.stream()
            .map(word -> "__fish_seen_subcommand_from " + word)
            .collect(Collectors.joining("; and "));
    String condition = words.isEmpty() ? "__fish_use_subcommand" : seen;
    String verbs = String.join(" ", command.subcommands().keySet());
    Stream<String> ofCommands =
        command.subcommands().entrySet().stream()
            .flatMap(
                verb ->
                    Stream.concat(
                        Stream.of(
                            line(
                                words.isEmpty()
                                    ? condition
                                    : seen + "; and not __fish_seen_subcommand_from " + verbs,
                                "-a " + verb.getKey(),
                                verb.getValue().getCommandSpec().usageMessage().description())),
                        fish(verb.getValue().getCommandSpec(), with(words, verb.getKey()))));
    Stream<String> ofFlags =
        command.options().stream()
            .filter(option -> !option.hidden())
            .map(option -> line(condition, flag(option), option.description()));
    return Stream.concat(ofFlags, ofCommands);
  }

  private static String flag(OptionSpec option) {
    String name = "-l " + option.longestName().substring(2);
    return option.arity().min() == 0 ? name : name + " -rF";
  }

  private static String line(String condition, String what, String[] description) {
    String text = description.length == 0 ? "" : description[0];
    return "complete -c %s -n '%s' %s -d '%s'"
        .formatted(Cli.NAME, condition, what, text.replaceFirst("\\. .*", "").replace("'", "\\'"));
  }

  private static List<String> with(List<String> words, String word) {
    List<String> more = new ArrayList<>(words);
    more.add(word);
    return more;
  }
}
