package dev.coatcheck.app.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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

/** {@code coatcheck migrate-table}: a live table to Snowflake keys, through the API. */
@Command(
    name = "migrate-table",
    description = "Gives the rows of a live table Snowflake keys and public IDs.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND")
final class MigrateTableCommand {
  private static final String RUNS = "/v1/table-migrations";
  private static final String RUN = "The run, as plan numbered it.";
  private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,17}");

  @Spec private CommandSpec spec;

  @Command(
      name = "plan",
      mixinStandardHelpOptions = true,
      description = {
        "Prints what would be done to a table, how long it takes and what your application",
        "has to meet. Changes nothing on the table."
      })
  int plan(
      @Mixin GatewayCalls gateway,
      @Option(
              names = "--table",
              required = true,
              paramLabel = "TABLE",
              description = "TABLE or SCHEMA.TABLE, exactly as it is called.")
          String table,
      @Option(names = "--type", required = true, description = "Name of the type of its rows.")
          String type,
      @Option(
              names = "--source",
              defaultValue = "gateway",
              description = "Where the table is: a registered source. Default: ${DEFAULT-VALUE}.")
          String source,
      @Option(
              names = "--created-at-column",
              paramLabel = "COLUMN",
              description = "Says when a row was made; keys follow it.")
          @Nullable String createdAtColumn,
      @Option(
              names = "--keep-primary-key",
              description = "Stop at a unique column that is not null.")
          boolean keepPrimaryKey,
      @Option(
              names = "--application-search-path",
              paramLabel = "PATH",
              description =
                  "Of the sessions that write to the table, for its triggers and checks."
                      + " Default: that of its owner's settings.")
          @Nullable String applicationSearchPath,
      @Option(
              names = "--sql",
              description = "Print every statement too, with the one that undoes it.")
          boolean withSql)
      throws CommandFailed {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("source", source);
    body.put("table", table);
    body.put("type", type);
    body.put("keep_primary_key", keepPrimaryKey);
    Optional.ofNullable(createdAtColumn).ifPresent(name -> body.put("created_at_column", name));
    Optional.ofNullable(applicationSearchPath)
        .ifPresent(path -> body.put("application_search_path", path));
    new PlanText(out()).print(gateway.post(RUNS, body), withSql);
    return 0;
  }

  @Command(
      name = "start",
      mixinStandardHelpOptions = true,
      description = "Begins a run that was planned, and follows it.")
  int start(
      @Mixin GatewayCalls gateway,
      @Parameters(paramLabel = "ID", description = RUN) String id,
      @Option(
              names = "--accept",
              split = ",",
              paramLabel = "CODE",
              description = "Preconditions that your application meets.")
          @Nullable List<String> accept,
      @Option(names = "--detach", description = "Don't follow.") boolean detach)
      throws CommandFailed {
    List<String> accepted = accept == null ? List.of() : accept;
    gateway.post(path(id, "/start"), Map.of("accept", accepted));
    return follow(gateway, id, detach);
  }

  @Command(
      name = "status",
      mixinStandardHelpOptions = true,
      description = "Prints where a run is; without an ID, all of them.")
  int status(
      @Mixin GatewayCalls gateway,
      @Parameters(paramLabel = "ID", arity = "0..1", description = RUN) @Nullable String id,
      @Option(names = "--watch", description = "Follow it until it stops.") boolean watch)
      throws CommandFailed {
    if (id == null) {
      if (watch) {
        throw new ParameterException(spec.commandLine(), "Say which run to watch.");
      }
      new RunText(out()).list(gateway.get(RUNS).path("data"));
      return 0;
    }
    if (watch) {
      return follow(gateway, id, false);
    }
    new RunText(out()).status(gateway.get(path(id, "")));
    return 0;
  }

  /** What can be turned; only what is given is changed. */
  @Command
  static final class ThrottleFlags {
    @Option(names = "--batch-millis", description = "How long a batch should take: 20 to 10000.")
    private @Nullable Long batchMillis;

    @Option(names = "--rows-per-second-max", description = "Up to 1000000; 0: as fast as it goes.")
    private @Nullable Long rowsPerSecondMax;

    @Option(
        names = "--wal-megabytes-per-second-max",
        description = "Wait while the source writes more WAL. Default: 0, no limit.")
    private @Nullable Long walMegabytesPerSecondMax;

    @Option(names = "--replica-lag-seconds-max", description = "Wait while a replica lags more.")
    private @Nullable Long replicaLagSecondsMax;

    @Option(
        names = "--slot-megabytes-max",
        description = "Wait while a replication slot keeps more WAL.")
    private @Nullable Long slotMegabytesMax;

    @Option(
        names = "--lock-waits-max",
        description = "Wait while more sessions wait for the table.")
    private @Nullable Long lockWaitsMax;

    @Option(
        names = "--long-transaction-seconds-max",
        description = "Wait while a transaction is older.")
    private @Nullable Long longTransactionSecondsMax;

    @Option(
        names = "--latency-millis-max",
        description = "Wait while reading one row takes longer.")
    private @Nullable Long latencyMillisMax;

    @Option(
        names = "--vacuum-seconds-max",
        description = "Wait for a vacuum of the table, but not longer.")
    private @Nullable Long vacuumSecondsMax;

    @Option(
        names = "--archive-failures",
        arity = "1",
        paramLabel = "true|false",
        description = "Whether to wait while WAL can't be archived.")
    private @Nullable Boolean archiveFailures;

    Map<String, Object> body() {
      Map<String, Object> body = new LinkedHashMap<>();
      put(body, "batch_millis", batchMillis);
      put(body, "rows_per_second_max", rowsPerSecondMax);
      put(body, "wal_megabytes_per_second_max", walMegabytesPerSecondMax);
      put(body, "replica_lag_seconds_max", replicaLagSecondsMax);
      put(body, "slot_megabytes_max", slotMegabytesMax);
      put(body, "lock_waits_max", lockWaitsMax);
      put(body, "long_transaction_seconds_max", longTransactionSecondsMax);
      put(body, "latency_millis_max", latencyMillisMax);
      put(body, "vacuum_seconds_max", vacuumSecondsMax);
      put(body, "archive_failures", archiveFailures);
      return body;
    }

    private static void put(Map<String, Object> body, String name, @Nullable Object value) {
      if (value != null) {
        body.put(name, value);
      }
    }
  }

  @Command(
      name = "set",
      mixinStandardHelpOptions = true,
      description =
          "Changes the throttle settings of a run, also while it is under way. 0 switches a limit"
              + " off.")
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
    JsonNode run = gateway.patch(path(id, ""), body);
    boolean isPlanned = run.path("state").asString().equals("planned");
    // The next command names what the plan wants to have accepted.
    new RunText(out()).throttleSettings(isPlanned ? gateway.get(path(id, "")) : run);
    return 0;
  }

  @Command(
      name = "pause",
      mixinStandardHelpOptions = true,
      description = "Stops between two batches; new rows go on getting keys.")
  int pause(
      @Mixin GatewayCalls gateway, @Parameters(paramLabel = "ID", description = RUN) String id)
      throws CommandFailed {
    new RunText(out()).status(gateway.post(path(id, "/pause")));
    return 0;
  }

  @Command(
      name = "resume",
      mixinStandardHelpOptions = true,
      description = "Goes on with a paused run, and follows it.")
  int resume(
      @Mixin GatewayCalls gateway,
      @Parameters(paramLabel = "ID", description = RUN) String id,
      @Option(names = "--detach", description = "Don't follow.") boolean detach)
      throws CommandFailed {
    gateway.post(path(id, "/resume"));
    return follow(gateway, id, detach);
  }

  @Command(
      name = "retry",
      mixinStandardHelpOptions = true,
      description = "Tries again what failed, and follows it.")
  int retry(
      @Mixin GatewayCalls gateway,
      @Parameters(paramLabel = "ID", description = RUN) String id,
      @Option(names = "--detach", description = "Don't follow.") boolean detach)
      throws CommandFailed {
    gateway.post(path(id, "/retry"));
    return follow(gateway, id, detach);
  }

  @Command(
      name = "cancel",
      mixinStandardHelpOptions = true,
      description = "Ends a run for good where it is. What is on the table stays until undo.")
  int cancel(
      @Mixin GatewayCalls gateway, @Parameters(paramLabel = "ID", description = RUN) String id)
      throws CommandFailed {
    new RunText(out()).status(gateway.post(path(id, "/cancel")));
    return 0;
  }

  @Command(
      name = "verify",
      mixinStandardHelpOptions = true,
      description = "Compares the table with its mappings and prints each check.")
  int verify(
      @Mixin GatewayCalls gateway, @Parameters(paramLabel = "ID", description = RUN) String id)
      throws CommandFailed {
    gateway.post(path(id, "/verify"));
    JsonNode run = follower(gateway).end(id);
    boolean isThrough = !run.path("state").asString().equals("failed");
    boolean clean = run.path("report").path("clean").asBoolean(false);
    new RunText(out()).report(run);
    if (isThrough && clean) {
      return 0;
    }
    throw new CommandFailed(RunText.failure(run));
  }

  @Command(
      name = "undo",
      mixinStandardHelpOptions = true,
      description = "Undoes a phase and all that came after it, and waits for that.")
  int undo(
      @Mixin GatewayCalls gateway,
      @Parameters(paramLabel = "ID", description = RUN) String id,
      @Option(
              names = "--phase",
              description =
                  "expand (all of it), backfill, index or not_null. Default: the last one.")
          @Nullable String phase)
      throws CommandFailed {
    gateway.post(path(id, "/undo"), phase == null ? Map.of() : Map.of("phase", phase));
    JsonNode run = follower(gateway).end(id);
    if (run.path("state").asString().equals("failed")) {
      throw new CommandFailed(RunText.failure(run));
    }
    new RunText(out()).undone(run);
    return 0;
  }

  @Command(
      name = "forget",
      mixinStandardHelpOptions = true,
      description = {
        "Takes what an undo left from the source: the archive of the table's keys, and the schema"
            + " coatcheck_migration with the last archive.",
        "No later run can be planned for the type: it would give the rows other keys than their"
            + " public IDs have."
      })
  int forget(
      @Mixin GatewayCalls gateway, @Parameters(paramLabel = "ID", description = RUN) String id)
      throws CommandFailed {
    new RunText(out()).forgotten(gateway.post(path(id, "/forget")));
    return 0;
  }

  @Command(
      name = "import",
      mixinStandardHelpOptions = true,
      description = {
        "Gives the rows of a file their keys, where nothing may be installed on the table.",
        "The columns are legacy_id, rising, and created_at. The run was only planned."
      })
  int importRows(
      @Mixin GatewayCalls gateway,
      @Parameters(index = "0", paramLabel = "ID", description = RUN) String id,
      @Parameters(index = "1", paramLabel = "FILE", description = "The file.") Path file,
      @Option(names = "--format", description = "csv or ndjson. Default: by the file's name.")
          @Nullable String format)
      throws CommandFailed {
    return ImportVerb.send(spec, gateway, path(id, "/import"), file, format);
  }

  /** Exits with 0 if the run came to its end, and 1 with the reason if not. */
  private int follow(GatewayCalls gateway, String id, boolean detach) throws CommandFailed {
    if (detach) {
      out().printf("Run %s goes on. Next: coatcheck migrate-table status %s --watch%n", id, id);
      return 0;
    }
    JsonNode run = follower(gateway).end(id);
    if (!run.path("state").asString().equals("done")) {
      throw new CommandFailed(RunText.failure(run));
    }
    new RunText(out()).status(run);
    return 0;
  }

  private RunFollower follower(GatewayCalls gateway) {
    return new RunFollower(gateway, spec.commandLine().getErr(), System::nanoTime);
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  private String path(String id, String verb) {
    if (!NUMBER.matcher(id).matches()) {
      throw new ParameterException(spec.commandLine(), "A run is a number, as plan printed it.");
    }
    return RUNS + "/" + id + verb;
  }
}
