package dev.coatcheck.app.cli.migrate;

import dev.coatcheck.app.client.ClientImport;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.Output;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
    addMethodSubcommands = false,
    description = "Gives the rows of a live table Snowflake keys and public IDs.",
    subcommands = {PlanVerb.class, OldColumnsVerb.class, RetireVerb.class})
public final class MigrateTableCommand {
  private static final String DETACH = "Return at once; the run continues in the gateway.";

  @Spec private CommandSpec spec;

  @Command(
      name = "import",
      description = {
        "Gives the rows of a file their keys, for a table on which nothing may be installed.",
        "Its columns are legacy_id, in ascending order, and created_at. The run must be planned and"
            + " not started."
      },
      footer = "  coatcheck migrate-table import 7 old.csv")
  int importFile(@Mixin RunCalls calls, @Mixin Output output, @Mixin ClientImport upload)
      throws CommandFailed {
    return upload.send(calls.gateway(), output, calls.path("/import"));
  }

  @Command(
      name = "start",
      description = "Starts a planned run, and follows it.",
      footer = "  coatcheck migrate-table start 7 --accept keys_as_strings")
  void start(
      @Mixin RunCalls calls,
      @Mixin Output output,
      @Option(
              names = "--accept",
              split = ",",
              paramLabel = "CODE",
              description = "Codes of the preconditions that your application meets.")
          @Nullable List<String> accept,
      @Option(names = "--detach", description = DETACH) boolean detach)
      throws CommandFailed {
    follow(
        calls,
        output,
        calls.post("/start", Map.of("accept", accept == null ? List.of() : accept)),
        detach);
  }

  @Command(
      name = "status",
      description =
          "Prints the progress of a run, and the next command; without ID, lists all runs.",
      footer = "  coatcheck migrate-table status 7 --watch")
  void status(
      @Mixin GatewayCalls gateway,
      @Mixin Output output,
      @Parameters(paramLabel = "ID", arity = "0..1", description = RunCalls.DESCRIPTION)
          @Nullable String id,
      @Option(names = "--watch", description = "Follow the run until it stops.") boolean watch)
      throws CommandFailed {
    if (id == null) {
      if (watch) {
        throw new ParameterException(spec.commandLine(), "--watch needs the ID of a run.");
      }
      JsonNode runs = gateway.get(RunCalls.RUNS).path("data");
      if (runs.isEmpty() && !output.isJson()) {
        spec.commandLine().getOut().println("No runs yet. Next: " + NextCommand.WITHOUT_RUNS);
      } else {
        output.rows(runs, "id", "source", "table", "state");
      }
      return;
    }
    RunCalls calls = new RunCalls(gateway, id);
    if (watch) {
      done(output, end(calls));
    } else {
      print(output, calls.get());
    }
  }

  @Command(
      name = "set",
      description =
          "Changes the throttle settings of a run, also while it works; 0 switches a limit off.",
      footer = "  coatcheck migrate-table set 7 --rows-per-second-max 2000")
  void set(@Mixin RunCalls calls, @Mixin Output output, @Mixin ThrottleFlags throttleSettings)
      throws CommandFailed {
    Map<String, Object> body = throttleSettings.body();
    if (body.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(), "Name the settings to change; --help lists them.");
    }
    JsonNode run = calls.patch(body);
    boolean isPlanned = run.path("state").asString().equals("planned");
    // A planned run is fetched again with its plan: the next command lists the preconditions.
    JsonNode whole = isPlanned ? calls.get() : run;
    output.print(whole, out -> new RunText(out).throttleSettings(whole));
  }

  @Command(
      name = "pause",
      description = "Stops a run after its batch. New rows continue to get keys.",
      footer = "  coatcheck migrate-table pause 7")
  void pause(@Mixin RunCalls calls, @Mixin Output output) throws CommandFailed {
    print(output, calls.post("/pause"));
  }

  @Command(
      name = "resume",
      description =
          "Continues a paused run, or takes one whose undo failed forward again, and follows it.",
      footer = "  coatcheck migrate-table resume 7")
  void resume(
      @Mixin RunCalls calls,
      @Mixin Output output,
      @Option(names = "--detach", description = DETACH) boolean detach)
      throws CommandFailed {
    follow(calls, output, calls.post("/resume"), detach);
  }

  @Command(
      name = "retry",
      description =
          "Repeats the failed step of a run, or fills the rows that were set aside; follows the"
              + " run.",
      footer = "  coatcheck migrate-table retry 7")
  void retry(
      @Mixin RunCalls calls,
      @Mixin Output output,
      @Option(names = "--detach", description = DETACH) boolean detach)
      throws CommandFailed {
    follow(calls, output, calls.post("/retry"), detach);
  }

  @Command(
      name = "cancel",
      description = "Ends a run for good. Columns, triggers and keys stay on the table until undo.",
      footer = "  coatcheck migrate-table cancel 7")
  void cancel(@Mixin RunCalls calls, @Mixin Output output) throws CommandFailed {
    print(output, calls.post("/cancel"));
  }

  @Command(
      name = "verify",
      description = "Compares the table with its mappings, and prints each check.",
      footer = "  coatcheck migrate-table verify 7")
  void verify(@Mixin RunCalls calls, @Mixin Output output) throws CommandFailed {
    calls.post("/verify");
    JsonNode run = wholeEnd(calls);
    output.print(run, out -> new RunText(out).report(run));
    if (isFailed(run) || !run.path("report").path("clean").asBoolean(false)) {
      throw new CommandFailed(RunText.failure(run));
    }
  }

  @Command(
      name = "switch",
      description = {
        "Makes the new keys the primary key of the table, in one short transaction; follows the"
            + " run.",
        "undo --phase switch moves the primary key back. A TIME is 2026-01-31T02:00:00Z, or has"
            + " another offset than Z."
      },
      footer = {
        "  coatcheck migrate-table switch 7 \\",
        "      --not-before 2099-01-31T02:00:00Z --not-after 2099-01-31T04:00:00Z"
      })
  void switchKey(
      @Mixin RunCalls calls,
      @Mixin Output output,
      @Option(
              names = "--not-before",
              paramLabel = "TIME",
              description = "The primary key stays where it is until then. Default: now.")
          @Nullable String notBefore,
      @Option(
              names = "--not-after",
              paramLabel = "TIME",
              description = "If the switch has not begun by then, it is postponed.")
          @Nullable String notAfter,
      @Option(names = "--detach", description = DETACH) boolean detach)
      throws CommandFailed {
    Map<String, @Nullable Object> window = new LinkedHashMap<>();
    window.put("not_before", notBefore);
    window.put("not_after", notAfter);
    follow(calls, output, calls.post("/switch", window), detach);
  }

  @Command(
      name = "undo",
      description = "Undoes a phase and all later phases, and waits for the end.",
      footer = "  coatcheck migrate-table undo 7 --phase switch")
  void undo(
      @Mixin RunCalls calls,
      @Mixin Output output,
      @Option(
              names = "--phase",
              paramLabel = "PHASE",
              description =
                  "expand (undoes everything), backfill, index, not_null, children (the twins of"
                      + " foreign keys), prepare_switch (the indexes for the switch), switch"
                      + " (moves the primary key back) or contract (before its last step). Default:"
                      + " the last phase.")
          @Nullable String phase)
      throws CommandFailed {
    calls.post("/undo", phase == null ? Map.of() : Map.of("phase", phase));
    JsonNode run = wholeEnd(calls);
    if (isFailed(run)) {
      throw new CommandFailed(RunText.failure(run));
    }
    output.print(run, out -> new RunText(out).undone(run));
  }

  @Command(
      name = "contract",
      description = {
        "Drops the column of the legacy IDs, and the columns that refer to it. There is no way"
            + " back.",
        "Old links go on working: the gateway and an archive in the source keep all legacy IDs."
      },
      footer = "  coatcheck migrate-table contract 7 --confirm shop.orders --accept old_column")
  void contract(
      @Mixin RunCalls calls,
      @Mixin Output output,
      @Option(
              names = "--confirm",
              required = true,
              paramLabel = "TABLE",
              description = "Name of the table with its schema, as status prints it.")
          String table,
      @Option(
              names = "--accept",
              split = ",",
              paramLabel = "CODE",
              description = "Codes of findings that you accept; old-columns prints the findings.")
          @Nullable List<String> accept)
      throws CommandFailed {
    calls.post(
        "/contract", Map.of("confirm", table, "accept", accept == null ? List.of() : accept));
    JsonNode run = end(calls);
    if (!run.path("state").asString().equals("contracted")) {
      throw new CommandFailed(RunText.failure(run));
    }
    print(output, run);
  }

  @Command(
      name = "forget",
      description = {
        "Drops the archive of the table's keys, which undo and retire keep in the source, and the"
            + " schema coatcheck_migration with the last archive.",
        "No later run can be planned for the type: its keys would differ from the keys of the"
            + " public IDs."
      },
      footer = "  coatcheck migrate-table forget 7")
  void forget(@Mixin RunCalls calls, @Mixin Output output) throws CommandFailed {
    JsonNode run = calls.post("/forget");
    output.print(run, out -> new RunText(out).forgotten(run));
  }

  private void follow(RunCalls calls, Output output, JsonNode begun, boolean detach)
      throws CommandFailed {
    if (detach) {
      output.print(
          begun,
          "Run %1$s continues in the gateway. Next: coatcheck migrate-table status %1$s --watch"
              .formatted(calls.id()));
    } else {
      done(output, end(calls));
    }
  }

  /** Prints a run that is done; fails with the reason if it stopped before. */
  private static void done(Output output, JsonNode run) throws CommandFailed {
    if (!List.of("done", "contracted").contains(run.path("state").asString())) {
      throw new CommandFailed(RunText.failure(run));
    }
    if (run.path("goal").asString().equals("switch") && !PhaseProgress.isSwitched(run)) {
      throw new CommandFailed(RunText.postponed(run));
    }
    print(output, run);
  }

  private JsonNode end(RunCalls calls) throws CommandFailed {
    return new RunFollower(calls, spec.commandLine().getErr(), System::nanoTime).end();
  }

  /**
   * As {@link #end}, of what may end with a run that is paused: it may also be paused on its way.
   */
  private JsonNode wholeEnd(RunCalls calls) throws CommandFailed {
    JsonNode run = end(calls);
    if (calls.isStopped()) {
      throw new CommandFailed(RunText.failure(run));
    }
    return run;
  }

  private static void print(Output output, JsonNode run) throws CommandFailed {
    output.print(run, out -> new RunText(out).status(run));
  }

  private static boolean isFailed(JsonNode run) {
    return run.path("state").asString().equals("failed");
  }
}
