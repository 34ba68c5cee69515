package dev.coatcheck.app.cli;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.Output;
import dev.coatcheck.app.client.OutputFile;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code coatcheck ids export}: all mappings of a type, into a file or to standard output. */
@Command(
    name = "export",
    description = {
      "Writes all mappings of a type, in the order of keys.",
      "--json is the same as --format ndjson."
    },
    footer = "  coatcheck ids export charge --output charges.csv")
final class ExportVerb implements Callable<Integer> {
  @Mixin private GatewayCalls gateway = new GatewayCalls();
  @Mixin private Output output = new Output();
  @Mixin private OutputFile target = new OutputFile();

  @Parameters(paramLabel = "TYPE", description = "Name of the type.")
  private String type;

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      defaultValue = "csv",
      description = "csv or ndjson. Default: ${DEFAULT-VALUE}.")
  private String format;

  @Option(
      names = "--include-ended",
      description =
          "Include revoked and merged public IDs, with their status, but not the survivors of the"
              + " merged ones. Such a file can't be imported.")
  private boolean includeEnded;

  @Override
  public Integer call() throws CommandFailed {
    String wanted = output.isJson() ? "ndjson" : format;
    String path = GatewayCalls.path("/v1/exports", "type", type, "format", wanted);
    target.write(gateway.download(path + (includeEnded ? "&include_ended=true" : "")));
    return 0;
  }
}
