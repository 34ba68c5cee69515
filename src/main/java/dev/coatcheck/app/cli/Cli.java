package dev.coatcheck.app.cli;

import dev.coatcheck.app.cli.migrate.MigrateTableCommand;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.Misused;
import java.io.PrintWriter;
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
    versionProvider = Cli.Version.class,
    subcommands = {
      ServeCommand.class,
      TypesCommand.class,
      BatchVerbs.Mint.class,
      BatchVerbs.Resolve.class,
      BatchVerbs.Lookup.class,
      IdsCommand.class,
      MigrateTableCommand.class,
      KeysCommand.class,
      AccessCommand.class,
      HealthCommand.class,
      TrainCommand.class
    })
public final class Cli {
  private Cli() {}

  /** Runs a command; returns the exit status: 0 done, 1 failed, 2 misused. */
  public static int run(String... arguments) {
    return execute(line(), arguments);
  }

  /** Runs a command under another root. */
  public static int run(Object root, String... arguments) {
    return execute(line(root), arguments);
  }

  private static int execute(CommandLine line, String... arguments) {
    return arguments.length == 0 ? line.execute("--help") : line.execute(arguments);
  }

  static CommandLine line() {
    CommandLine line = line(new Cli());
    // Not in the annotation, from which every subcommand would inherit it.
    line.getCommandSpec()
        .usageMessage()
        .footer("In the source tree, ./coatcheck bench measures how fast it is.");
    return line;
  }

  private static CommandLine line(Object root) {
    CommandLine line = new CommandLine(root);
    // The one that picocli makes doesn't tell when the other end of a pipe is gone.
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
