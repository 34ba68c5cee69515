package dev.coatcheck.app.cli.migrate;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.Output;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code coatcheck migrate-table contract}. */
@Command(
    name = "contract",
    description = {
      "Drops the column of the legacy IDs, and the columns that refer to it. There is no way back.",
      "Old links go on working: the gateway and an archive in the source keep all legacy IDs."
    },
    footer = "  coatcheck migrate-table contract 7 --confirm shop.orders --accept old_column")
final class ContractVerb implements Callable<Integer> {
  @Mixin private RunCalls calls = new RunCalls();
  @Mixin private Output output = new Output();
  @Spec private CommandSpec spec;

  @Option(
      names = "--confirm",
      required = true,
      paramLabel = "TABLE",
      description = "Name of the table with its schema, as status prints it.")
  private String table;

  @Option(
      names = "--accept",
      split = ",",
      paramLabel = "CODE",
      description = "Codes of findings that you accept; old-columns prints the findings.")
  private @Nullable List<String> accept;

  @Override
  public Integer call() throws CommandFailed {
    calls.post(
        "/contract", Map.of("confirm", table, "accept", accept == null ? List.of() : accept));
    JsonNode run = new RunFollower(calls, spec.commandLine().getErr(), System::nanoTime).end();
    if (!run.path("state").asString().equals("contracted")) {
      throw new CommandFailed(RunText.failure(run));
    }
    output.print(run, out -> new RunText(out).status(run));
    return 0;
  }
}
