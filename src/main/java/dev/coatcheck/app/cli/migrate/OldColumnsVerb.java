package dev.coatcheck.app.cli.migrate;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.Output;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;

/** {@code coatcheck migrate-table old-columns}. */
@Command(
    name = "old-columns",
    description =
        "Prints what has used the columns of the legacy IDs since the switch, and what would keep"
            + " contract from dropping them.",
    footer = "  coatcheck migrate-table old-columns 7")
final class OldColumnsVerb implements Callable<Integer> {
  @Mixin private RunCalls calls = new RunCalls();
  @Mixin private Output output = new Output();

  @Override
  public Integer call() throws CommandFailed {
    JsonNode run = calls.get();
    JsonNode found = calls.gateway().get(calls.path("/old-columns"));
    output.print(found, out -> print(out, run, found));
    return 0;
  }

  private static void print(PrintWriter out, JsonNode run, JsonNode found) {
    out.println("Since the switch at " + found.path("switched_at").asString() + ":");
    for (JsonNode column : found.path("columns")) {
      out.println("  " + column.asString());
    }
    for (JsonNode statement : found.path("statements")) {
      out.printf(
          "%,d calls of: %s%n",
          statement.path("calls").asLong(),
          statement.path("text").asString().strip().replaceAll("\\s+", " "));
    }
    list(out, "Function that names a column", found.path("functions"));
    list(out, "Counts on the number of columns", found.path("row_shapes"));
    list(out, "Needs a column, or goes with it", found.path("dependents"));
    String why = found.path("not_searched").asString("");
    boolean isUnused =
        found.path("statements").isEmpty()
            && found.path("functions").isEmpty()
            && found.path("row_shapes").isEmpty()
            && found.path("dependents").isEmpty();
    if (isUnused) {
      out.println(why.isEmpty() ? "No use was found." : "No use was found in what was searched.");
    }
    if (!why.isEmpty()) {
      out.println("Not all statements were searched: " + why + ".");
    }
    times(out, found);
    out.println("Next: " + NextCommand.contract(run, found));
  }

  private static void times(PrintWriter out, JsonNode found) {
    if (found.path("rows_without_time").isNull()) {
      out.println("The keys have no times: the plan named no column with the time of a row.");
      return;
    }
    long without = found.path("rows_without_time").asLong();
    long rows = found.path("rows").asLong();
    out.printf(
        "The keys of %,d of %,d rows (%.1f %%) have another time than the row.%n",
        without, rows, rows == 0 ? 0.0 : 100.0 * without / rows);
  }

  private static void list(PrintWriter out, String title, JsonNode entries) {
    entries.forEach(entry -> out.println(title + ": " + entry.asString()));
  }
}
