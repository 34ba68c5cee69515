package dev.coatcheck.app.cli;

import dev.coatcheck.app.boot.Spelling;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.app.cli.keys.KeysCommand;
import dev.coatcheck.app.cli.keys.SegmentsCommand;
import dev.coatcheck.app.cli.migrate.MigrateTableCommand;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.ExitCode;
import dev.coatcheck.app.client.Misused;
import dev.coatcheck.app.client.ProgressBars;
import dev.coatcheck.app.client.ReaderGone;
import dev.coatcheck.app.demo.DemoCommand;
import dev.coatcheck.postgres.connection.SqlState;
import dev.coatcheck.postgres.connection.UnusableDatabase;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.io.PrintWriter;
import java.lang.reflect.Method;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.UnmatchedArgumentException;

/** The root of the command line. */
@Command(
    name = Cli.NAME,
    description = "A public-ID gateway: opaque IDs outside, Snowflake and UUIDv7 keys inside.",
    scope = ScopeType.INHERIT,
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    versionProvider = Cli.Version.class)
public final class Cli {
  static final String NAME = "coatcheck";

  /** In the order of the help. */
  private static final SequencedMap<String, Class<?>> VERBS = new LinkedHashMap<>();

  static {
    VERBS.put("serve", ServeCommand.class);
    VERBS.put("demo", DemoCommand.class);
    VERBS.put("types", TypesCommand.class);
    VERBS.put("mint", BatchVerbs.Mint.class);
    VERBS.put("resolve", BatchVerbs.Resolve.class);
    VERBS.put("lookup", BatchVerbs.Lookup.class);
    VERBS.put("find", FindVerb.class);
    VERBS.put("ids", IdsCommand.class);
    VERBS.put("inspect", InspectVerb.class);
    VERBS.put("migrate-table", MigrateTableCommand.class);
    VERBS.put("keys", KeysCommand.class);
    VERBS.put("segments", SegmentsCommand.class);
    VERBS.put("access", AccessCommand.class);
    VERBS.put("database", DatabaseCommand.class);
    VERBS.put("audit", AuditCommand.class);
    VERBS.put("health", HealthCommand.class);
    VERBS.put("completion", CompletionVerb.class);
  }

  private Cli() {}

  /** Runs a command; returns the exit status, see {@link ExitCode}. */
  public static int run(String... arguments) {
    return execute(line(arguments), arguments);
  }

  public static int run(Object root, String... arguments) {
    return execute(equipped(new CommandLine(root)), arguments);
  }

  static int execute(CommandLine line, String... arguments) {
    if (arguments.length == 0) {
      line.usage(line.getOut());
      return ExitCode.MISUSED.status();
    }
    return line.execute(arguments);
  }

  /**
   * What can run these arguments. picocli reads each verb by reflection, which takes longer than
   * most verbs do: so only the one in the arguments is added, and all where they name none.
   */
  static CommandLine line(String... arguments) {
    String first = arguments.length > 0 ? arguments[0] : "";
    String second = arguments.length > 1 ? arguments[1] : "";
    CommandLine line = new CommandLine(new Cli());
    VERBS.forEach(
        (verb, type) -> {
          if (verb.equals(first) || !VERBS.containsKey(first)) {
            line.addSubcommand(verb, verb(type, second));
          }
        });
    giveExamplesAHeading(line.getCommandSpec());
    // Not in the annotation, from which every subcommand would inherit it.
    line.getCommandSpec()
        .usageMessage()
        .exitCodeListHeading("%nExit codes:%n")
        .exitCodeList(
            Arrays.stream(ExitCode.values())
                .collect(
                    Collectors.toMap(
                        code -> Integer.toString(code.status()),
                        ExitCode::meaning,
                        (one, _) -> one,
                        LinkedHashMap::new)))
        .footerHeading("%n")
        .footer("In the source tree, ./coatcheck bench measures how fast it is.");
    return equipped(line);
  }

  /** With the verb of its own that is named, or all of them. */
  private static CommandLine verb(Class<?> type, String named) {
    CommandLine group = new CommandLine(type);
    if (!group.getSubcommands().containsKey(named)) {
      List<Method> verbs = CommandLine.getCommandMethods(type, null);
      List<Method> one =
          verbs.stream()
              .filter(verb -> verb.getAnnotation(Command.class).name().equals(named))
              .toList();
      for (Method verb : one.isEmpty() ? verbs : one) {
        CommandLine added = new CommandLine(verb);
        group.addSubcommand(added.getCommandName(), added);
      }
    }
    return group;
  }

  /** The footer of each verb is an example. */
  private static void giveExamplesAHeading(CommandSpec spec) {
    for (CommandLine verb : spec.subcommands().values()) {
      if (verb.getSubcommands().isEmpty()) {
        verb.getCommandSpec().usageMessage().footerHeading("%nExample:%n");
      } else {
        giveExamplesAHeading(verb.getCommandSpec());
      }
    }
  }

  /** Called after its subcommands are added: picocli applies the settings only to those. */
  private static CommandLine equipped(CommandLine line) {
    // picocli's own writer doesn't report a closed pipe. A program that reads results expects
    // UTF-8,
    // also where the locale is "C", whose characters are ASCII.
    Charset charset = ProgressBars.isDrawn() ? System.out.charset() : StandardCharsets.UTF_8;
    line.setOut(new PrintWriter(System.out, true, charset));
    // An argument with @ is text, such as an ID from a stranger, and no file to read.
    line.setExpandAtFiles(false);
    line.setExecutionExceptionHandler(
        (thrown, command, _) -> {
          CommandFailed failed = failure(thrown);
          if (failed instanceof ReaderGone && ReaderGone.isQuiet()) {
            return ExitCode.READER_GONE.status();
          }
          CommandSpec verb = command.getCommandSpec();
          command
              .getErr()
              .println(
                  verb.qualifiedName()
                      + ": "
                      + flag(verb, failed.field()).map(flag -> flag + ": ").orElse("")
                      + failed.getMessage());
          return (failed instanceof Misused ? ExitCode.MISUSED : ExitCode.FAILED).status();
        });
    line.setParameterExceptionHandler((wrong, _) -> misused(wrong));
    return line;
  }

  private static CommandFailed failure(Exception thrown) throws Exception {
    return switch (thrown) {
      case CommandFailed failed -> failed;
      case StartFailed _, UnusableDatabase _ ->
          new CommandFailed(String.valueOf(thrown.getMessage()));
      case DatabaseUnavailable outage ->
          new CommandFailed(outage.getMessage() + ". Run the same command again.");
      default -> {
        if (SqlState.isDenied(thrown)) {
          yield new CommandFailed(
              "the role of --database-user may not do this. Run it as the owner of the schema.");
        }
        throw thrown;
      }
    };
  }

  /** The flag of a verb that fills a field of its request. */
  private static Optional<String> flag(CommandSpec verb, String field) {
    return Stream.of(
            TypeFlags.of(field.replaceFirst("\\[.*", "")),
            Optional.of("--" + field.replace('_', '-')))
        .flatMap(Optional::stream)
        .filter(verb.optionsMap()::containsKey)
        .findFirst();
  }

  /** The error first, then three lines. */
  private static int misused(ParameterException wrong) {
    CommandLine command = verb(wrong.getCommandLine());
    PrintWriter err = command.getErr();
    String name = command.getCommandSpec().qualifiedName();
    List<String> near =
        wrong instanceof UnmatchedArgumentException unmatched
            ? near(unmatched.getUnmatched().getFirst(), command)
            : List.of();
    err.println(
        name
            + ": "
            + wrong.getMessage()
            + (near.isEmpty() ? "" : ". Did you mean " + String.join(" or ", near) + "?"));
    err.println("Usage: " + command.getHelp().abbreviatedSynopsis().strip());
    String example =
        String.join(" ", command.getCommandSpec().usageMessage().footer())
            .replaceAll("( *\\\\)? +", " ")
            .strip();
    if (!command.getSubcommands().isEmpty()) {
      err.println("Commands: " + String.join(", ", command.getSubcommands().keySet()));
    } else if (!example.isEmpty()) {
      err.println("Example: " + example);
    }
    err.println("Help: " + name + " --help");
    return ExitCode.MISUSED.status();
  }

  /** A verb that is a method speaks by its group. */
  private static CommandLine verb(CommandLine command) {
    ParseResult words = command.getParseResult();
    return words != null && words.hasSubcommand()
        ? verb(words.subcommand().commandSpec().commandLine())
        : command;
  }

  /** The option or command that was misspelt, or else those that begin with the word. */
  private static List<String> near(String unknown, CommandLine command) {
    String word = unknown.replaceFirst("=.*", "");
    Set<String> known =
        word.startsWith("-")
            ? command.getCommandSpec().optionsMap().keySet()
            : command.getSubcommands().keySet();
    return Spelling.near(word, known)
        .map(List::of)
        .orElseGet(() -> known.stream().filter(other -> other.startsWith(word)).sorted().toList());
  }

  static final class Version implements CommandLine.IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Cli.class.getPackage().getImplementationVersion();
      return new String[] {"coatcheck " + (version == null ? "(not packaged)" : version)};
    }
  }
}
