package dev.coatcheck.app.cli.migrate;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code coatcheck migrate-table}: gives a live table Snowflake keys, through the API. */
@Command(
    name = "migrate-table",
    description = "Gives the rows of a live table Snowflake keys and public IDs.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {PlanVerb.class, ImportVerb.class})
public final class MigrateTableCommand {
  static final String RUNS = "/v1/table-migrations";
  static final String RUN = "Number of the run, as plan printed it.";
  private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,17}");

  @Spec private CommandSpec spec;

  @Command(
      name = "start",
      mixinStandardHelpOptions = true,
      description = "Starts a planned run, and follows it.")
  int start(
      @Mixin GatewayCalls gateway,
      @Parameters(paramLabel = "ID", description = RUN) String id,
      @Option(
              names = "--accept",
              split = ",",
              paramLabel = "CODE",
              description = "Codes of the preconditions that your application meets.")
          @Nullable List<String> accept,
      @Option(names = "--detach", description = "Return at once; the run continues in the gateway.")
          boolean detach)
      throws CommandFailed {
    List<String> accepted = accept == null ? List.of() : accept;
    gateway.post(path(spec, id, "/start"), Map.of("accept", accepted));
    return follow(gateway, id, detach);
  }

  @Command(
      name = "status",
      mixinStandardHelpOptions = true,
      description =
          "Prints the progress of a run, and the next command; without ID, lists all runs.")
  int status(
      @Mixin GatewayCalls gateway,
      @Parameters(paramLabel = "ID", arity = "0..1", description = RUN) @Nullable String id,
      @Option(names = "--watch", description = "Follow the run until it stops.") boolean watch)
      throws CommandFailed {
    if (id == null) {
      if (watch) {
        throw new ParameterException(spec.commandLine(), "--watch needs the ID of a run.");
      }
      new RunText(out()).list(gateway.get(RUNS).path("data"));
      return 0;
    }
    if (watch) {
      return follow(gateway, id, false);
    }
    new RunText(out()).status(gateway.get(path(spec, id, "")));
    return 0;
  }

  @Command(
      name = "set",
      mixinStandardHelpOptions = true,
      description =
          "Changes the throttle settings of a run, also while it works; 0 switches a limit off.")
  int set(
      @Mixin GatewayCalls gateway,
      @Parameters(paramLabel = "ID", description = RUN) String id,
      @Mixin ThrottleFlags throttleSettings)
      throws CommandFailed {
    Map<String, Object> body = throttleSettings.body();
    if (body.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(), "Name the settings to change; --help lists them.");
    }
    JsonNode run = gateway.patch(path(spec, id, ""), body);
    boolean isPlanned = run.path("state").asString().equals("planned");
    // A planned run is read again with its plan: the next command lists the preconditions.
    new RunText(out()).throttleSettings(isPlanned ? gateway.get(path(spec, id, "")) : run);
    return 0;
  }

  @Command(
      name = "pause",
      mixinStandardHelpOptions = true,
      description = "Stops a run after its batch. New rows continue to get keys.")
  int pause(
      @Mixin GatewayCalls gateway, @Parameters(paramLabel = "ID", description = RUN) String id)
      throws CommandFailed {
    new RunText(out()).status(gateway.post(path(spec, id, "/pause")));
    return 0;
  }

  @Command(
      name = "resume",
      mixinStandardHelpOptions = true,
      description = "Continues a paused run, and follows it.")
  int resume(
      @Mixin GatewayCalls gateway,
      @Parameters(paramLabel = "ID", description = RUN) String id,
      @Option(names = "--detach", description = "Return at once; the run continues in the gateway.")
          boolean detach)
      throws CommandFailed {
    gateway.post(path(spec, id, "/resume"));
    return follow(gateway, id, detach);
  }

  @Command(
      name = "retry",
      mixinStandardHelpOptions = true,
      description =
          "Repeats the failed step of a run, or fills the rows that were set aside; follows the"
              + " run.")
  int retry(
      @Mixin GatewayCalls gateway,
      @Parameters(paramLabel = "ID", description = RUN) String id,
      @Option(names = "--detach", description = "Return at once; the run continues in the gateway.")
          boolean detach)
      throws CommandFailed {
    gateway.post(path(spec, id, "/retry"));
    return follow(gateway, id, detach);
  }

  @Command(
      name = "cancel",
      mixinStandardHelpOptions = true,
      description = "Ends a run for good. Columns, triggers and keys stay on the table until undo.")
  int cancel(
      @Mixin GatewayCalls gateway, @Parameters(paramLabel = "ID", description = RUN) String id)
      throws CommandFailed {
    new RunText(out()).status(gateway.post(path(spec, id, "/cancel")));
    return 0;
  }

  @Command(
      name = "verify",
      mixinStandardHelpOptions = true,
      description = "Compares the table with its mappings, and prints each check.")
  int verify(
      @Mixin GatewayCalls gateway, @Parameters(paramLabel = "ID", description = RUN) String id)
      throws CommandFailed {
    gateway.post(path(spec, id, "/verify"));
    JsonNode run = follower(gateway).end(id);
    new RunText(out()).report(run);
    if (isFailed(run) || !run.path("report").path("clean").asBoolean(false)) {
      throw new CommandFailed(RunText.failure(run));
    }
    return 0;
  }

  @Command(
      name = "undo",
      mixinStandardHelpOptions = true,
      description = "Undoes a phase and all later phases, and waits for the end.")
  int undo(
      @Mixin GatewayCalls gateway,
      @Parameters(paramLabel = "ID", description = RUN) String id,
      @Option(
              names = "--phase",
              description =
                  "expand (undoes everything), backfill, index or not_null. Default: the last"
                      + " phase.")
          @Nullable String phase)
      throws CommandFailed {
    gateway.post(path(spec, id, "/undo"), phase == null ? Map.of() : Map.of("phase", phase));
    JsonNode run = follower(gateway).end(id);
    if (isFailed(run)) {
      throw new CommandFailed(RunText.failure(run));
    }
    new RunText(out()).undone(run);
    return 0;
  }

  @Command(
      name = "forget",
      mixinStandardHelpOptions = true,
      description = {
        "Drops the archive of the table's keys, which undo keeps in the source, and the schema"
            + " coatcheck_migration with the last archive.",
        "No later run can be planned for the type: its keys would differ from the keys of the"
            + " public IDs."
      })
  int forget(
      @Mixin GatewayCalls gateway, @Parameters(paramLabel = "ID", description = RUN) String id)
      throws CommandFailed {
    new RunText(out()).forgotten(gateway.post(path(spec, id, "/forget")));
    return 0;
  }

  /** The exit status is 0 if the run is done, and 1 with the reason if it stopped before. */
  private int follow(GatewayCalls gateway, String id, boolean detach) throws CommandFailed {
    if (detach) {
      out()
          .printf(
              "Run %s continues in the gateway. Next: coatcheck migrate-table status %s --watch%n",
              id, id);
      return 0;
    }
    JsonNode run = follower(gateway).end(id);
    if (!run.path("state").asString().equals("done")) {
      throw new CommandFailed(RunText.failure(run));
    }
    new RunText(out()).status(run);
    return 0;
  }

  private static boolean isFailed(JsonNode run) {
    return run.path("state").asString().equals("failed");
  }

  private RunFollower follower(GatewayCalls gateway) {
    return new RunFollower(gateway, err(), System::nanoTime);
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  private PrintWriter err() {
    return spec.commandLine().getErr();
  }

  /** The path of a run, or of what is done to it. */
  static String path(CommandSpec spec, String id, String verb) {
    if (!NUMBER.matcher(id).matches()) {
      throw new ParameterException(
          spec.commandLine(), "ID must be the number of a run, as plan printed it.");
    }
    return RUNS + "/" + id + verb;
  }
}
