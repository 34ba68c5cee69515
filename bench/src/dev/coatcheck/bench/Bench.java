package dev.coatcheck.bench;

import dev.coatcheck.app.cli.Cli;
import java.util.Locale;
import picocli.CommandLine.Command;

/** {@code ./coatcheck bench …}, which the launcher starts from the source tree: not in the jar. */
@Command(
    name = "coatcheck",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = BenchCommand.class)
final class Bench {
  private Bench() {}

  /** Arguments as of the program itself: {@code bench} comes first. */
  public static void main(String[] arguments) {
    Locale.setDefault(Locale.ROOT); // as the program does
    System.exit(Cli.run(new Bench(), arguments));
  }
}
