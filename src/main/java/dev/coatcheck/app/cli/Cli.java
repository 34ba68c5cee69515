package dev.coatcheck.app.cli;

import dev.coatcheck.app.cli.keys.KeysCommand;
import dev.coatcheck.app.cli.keys.SegmentsCommand;
import dev.coatcheck.app.cli.migrate.MigrateTableCommand;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.Misused;
import java.io.PrintWriter;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ScopeType;

/** The root of the command line. */
@Command(
    name = "coatcheck",
    description = "A public-ID gateway: opaque IDs outside, Snowflake and UUIDv7 keys inside.",
    scope = ScopeType.INHERIT,
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    versionProvider = Cli.Version.class)
public final class Cli {
  /** In the order of the help. */
  private static final SequencedMap<String, Class<?>> VERBS = new LinkedHashMap<>();

  static {
    VERBS.put("serve", ServeCommand.class);
    VERBS.put("types", TypesCommand.class);
    VERBS.put("mint", BatchVerbs.Mint.class);
    VERBS.put("resolve", BatchVerbs.Resolve.class);
    VERBS.put("lookup", BatchVerbs.Lookup.class);
    VERBS.put("ids", IdsCommand.class);
    VERBS.put("inspect", InspectVerb.class);
    VERBS.put("migrate-table", MigrateTableCommand.class);
    VERBS.put("keys", KeysCommand.class);
    VERBS.put("segments", SegmentsCommand.class);
    VERBS.put("access", AccessCommand.class);
    VERBS.put("health", HealthCommand.class);
  }

  private Cli() {}

  /** Runs a command; returns the exit status: 0 done, 1 failed, 2 misused. */
  public static int run(String... arguments) {
    // picocli reads each verb by reflection, so only the verb in the arguments is added.
    boolean isVerb = arguments.length > 0 && VERBS.containsKey(arguments[0]);
    return execute(isVerb ? line(List.of(arguments[0])) : line(), arguments);
  }

  public static int run(Object root, String... arguments) {
    return execute(equipped(new CommandLine(root)), arguments);
  }

  private static int execute(CommandLine line, String... arguments) {
    return arguments.length == 0 ? line.execute("--help") : line.execute(arguments);
  }

  static CommandLine line() {
    return line(VERBS.sequencedKeySet());
  }

  private static CommandLine line(Collection<String> verbs) {
    CommandLine line = new CommandLine(new Cli());
    verbs.forEach(verb -> line.addSubcommand(verb, VERBS.get(verb)));
    // Not in the annotation, from which every subcommand would inherit it.
    line.getCommandSpec()
        .usageMessage()
        .footer("In the source tree, ./coatcheck bench measures how fast it is.");
    return equipped(line);
  }

  /** Called after its subcommands are added: picocli applies the settings only to those. */
  private static CommandLine equipped(CommandLine line) {
    // picocli's own writer doesn't report a closed pipe.
    line.setOut(new PrintWriter(System.out, true, System.out.charset()));
    line.setExecutionExceptionHandler(
        (thrown, command, _) -> {
          if (!(thrown instanceof CommandFailed)) {
            throw thrown;
          }
          command.getErr().println("coatcheck: " + thrown.getMessage());
          return thrown instanceof Misused ? 2 : 1;
        });
    return line;
  }

  static final class Version implements CommandLine.IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Cli.class.getPackage().getImplementationVersion();
      return new String[] {"coatcheck " + (version == null ? "(not packaged)" : version)};
    }
  }
}
