package dev.coatcheck.app.cli;

import dev.coatcheck.app.boot.OpenDatabase;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.Misused;
import dev.coatcheck.app.client.Output;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.Shards;
import dev.coatcheck.postgres.connection.UnusableDatabase;
import dev.coatcheck.postgres.distributed.Distribution;
import dev.coatcheck.postgres.sql.Grants;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code coatcheck database}: the schema and its roles, for the owner of the schema. */
@Command(
    name = "database",
    addMethodSubcommands = false,
    description =
        "Migrates the schema of the gateway, prints what a role needs to use it, and distributes it"
            + " over a Citus cluster.")
final class DatabaseCommand {

  @Command(
      name = "migrate",
      description =
          "Applies the migrations that the schema lacks, as the role that owns it, and prints"
              + " them.",
      footer = "  coatcheck database migrate --database-user coatcheck_owner")
  void migrate(@Mixin Settings settings, @Mixin Output output) throws CommandFailed, StartFailed {
    List<String> applied;
    try (OpenDatabase opened = OpenDatabase.migrate(settings.config(), new Observer())) {
      applied = opened.applied();
    }
    output.print(
        Map.of("applied", applied),
        applied.isEmpty()
            ? "The schema is up to date; nothing was applied."
            : "applied " + String.join("\napplied ", applied));
  }

  @Command(
      name = "distribute",
      description =
          "Distributes the large tables over the nodes of a Citus cluster: the mappings, the"
              + " aliases and the stored responses, by their bucket. Changes nothing where that is"
              + " done. All gateways have to be stopped.",
      footer = "  coatcheck database distribute --shards 32")
  void distribute(
      @Option(
              names = "--shards",
              paramLabel = "N",
              defaultValue = "32",
              description = "How many shards each table gets, 1 to 1024 (default 32).")
          int shards,
      @Mixin Settings settings,
      @Mixin Output output)
      throws CommandFailed, StartFailed, UnusableDatabase {
    if (shards < 1 || shards > Shards.BUCKETS) {
      throw new Misused("--shards must be 1 to " + Shards.BUCKETS + ".");
    }
    Distribution.Distributed done = Distribution.distribute(ready(settings), shards);
    output.print(
        Map.of(
            "distributed", done.distributed(),
            "shards", done.shards(),
            "nodes", done.nodes()),
        (done.distributed().isEmpty()
                ? "All large tables were distributed before; nothing was changed."
                : "distributed " + String.join("\ndistributed ", done.distributed()))
            + "\nEach has %d shards on %d nodes. All other tables stay on the coordinator."
                .formatted(done.shards(), done.nodes()));
  }

  @Command(
      name = "rebalance",
      description =
          "Starts to move shards from full nodes of a Citus cluster to empty ones, and prints"
              + " which. Gateways keep running.",
      footer = "  coatcheck database rebalance --dry-run")
  void rebalance(
      @Option(names = "--dry-run", description = "Prints the moves and starts nothing.")
          boolean isDryRun,
      @Mixin Settings settings,
      @Mixin Output output)
      throws CommandFailed, StartFailed, UnusableDatabase {
    DatabaseSettings database = ready(settings);
    List<Distribution.Move> moves =
        isDryRun ? Distribution.plan(database) : Distribution.rebalance(database);
    output.print(
        Map.of(
            "moves",
            moves.stream()
                .map(
                    move ->
                        Map.of(
                            "from", move.from(),
                            "to", move.to(),
                            "shards", move.shards(),
                            "bytes", move.bytes()))
                .toList(),
            "started",
            !isDryRun && !moves.isEmpty()),
        sentences(moves, isDryRun));
  }

  private static String sentences(List<Distribution.Move> moves, boolean isDryRun) {
    if (moves.isEmpty()) {
      return "All nodes have about as many shards as the others; there is nothing to move.";
    }
    return moves.stream()
            .map(
                move ->
                    "%s to %s: %d shards, %d bytes"
                        .formatted(move.from(), move.to(), move.shards(), move.bytes()))
            .collect(Collectors.joining("\n"))
        + (isDryRun
            ? "\nNothing was started."
            : "\n"
                + "Started. Shards are copied in the background while they are used; at the end"
                + " of each move, writes to that shard wait for a moment and may get 503, which"
                + " clients repeat. Watch it with: select * from citus_rebalance_status().");
  }

  /** Where a schema is that is up to date; nothing is migrated. */
  private static DatabaseSettings ready(Settings settings) throws CommandFailed, StartFailed {
    try (OpenDatabase opened = OpenDatabase.check(settings.config(), new Observer())) {
      return opened.settings();
    }
  }

  @Command(
      name = "grants",
      description =
          "Prints the statements that let a role use the schema without owning it. Runs nothing.",
      footer = "  coatcheck database grants --to coatcheck_gateway | psql shop")
  void grants(
      @Option(
              names = "--to",
              paramLabel = "ROLE",
              required = true,
              description = "Name of the role.")
          String role,
      @Mixin Output output)
      throws CommandFailed {
    Optional<String> fault = Grants.fault(role);
    if (fault.isPresent()) {
      throw new Misused("--to " + fault.get() + ".");
    }
    String sql = Grants.sql(role);
    output.print(Map.of("role", role, "sql", sql), sql.stripTrailing());
  }
}
