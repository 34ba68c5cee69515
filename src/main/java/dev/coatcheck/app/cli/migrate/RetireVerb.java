package dev.coatcheck.app.cli.migrate;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.Output;
import java.io.PrintWriter;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** {@code coatcheck migrate-table retire}. */
@Command(
    name = "retire",
    description = {
      "Takes the triggers of a contracted run off its table, with the outbox and the number source;"
          + " new rows get no mapping by themselves any more.",
      "Without --confirm, prints what it would do and changes nothing."
    },
    footer = "  coatcheck migrate-table retire 7 --new-keys function --confirm shop.orders")
final class RetireVerb implements Callable<Integer> {
  @Mixin private RunCalls calls = new RunCalls();
  @Mixin private Output output = new Output();

  @Option(
      names = "--new-keys",
      required = true,
      paramLabel = "none|function",
      description =
          "Source of the keys of new rows from then on: none (the application), or function (a"
              + " function beside the table, as the default of the column).")
  private String newKeys;

  @Option(
      names = "--confirm",
      paramLabel = "TABLE",
      description = "Name of the table with its schema, as status prints it.")
  private @Nullable String table;

  @Option(names = "--sql", description = "Print every statement.")
  private boolean withSql;

  @Override
  public Integer call() throws CommandFailed {
    if (table == null) {
      JsonNode plan =
          calls.gateway().get(GatewayCalls.path(calls.path("/retirement"), "new_keys", newKeys));
      output.print(plan, out -> plan(out, plan));
    } else {
      JsonNode run = calls.post("/retire", Map.of("confirm", table, "new_keys", newKeys));
      output.print(run, out -> new RunText(out).status(run));
    }
    return 0;
  }

  private void plan(PrintWriter out, JsonNode plan) {
    out.printf(
        "The triggers of %s go, with the outbox and the number source of the run. The archive"
            + " stays.%n",
        plan.path("table").asString());
    plan.path("consequences").forEach(one -> out.println("- " + one.asString()));
    if (withSql) {
      plan.path("statements").forEach(one -> out.println(one.asString().strip() + ";"));
    }
    out.printf(
        "Nothing was changed. Next: coatcheck migrate-table retire %s --new-keys %s --confirm %s%n",
        calls.id(), newKeys, plan.path("table").asString());
  }
}
