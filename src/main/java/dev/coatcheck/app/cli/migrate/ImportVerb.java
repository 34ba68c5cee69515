package dev.coatcheck.app.cli.migrate;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.FileUpload;
import dev.coatcheck.app.client.GatewayCalls;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code coatcheck migrate-table import}. */
@Command(
    name = "import",
    description = {
      "Gives the rows of a file their keys, for a table on which nothing may be installed.",
      "Its columns are legacy_id, in ascending order, and created_at. The run must be planned and"
          + " not started."
    },
    mixinStandardHelpOptions = true)
final class ImportVerb implements Callable<Integer> {
  @Mixin private GatewayCalls gateway = new GatewayCalls();
  @Spec private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "ID", description = MigrateTableCommand.RUN)
  private String id;

  @Parameters(index = "1", paramLabel = "FILE", description = "The file to import.")
  private Path file;

  @Option(names = "--format", description = "csv or ndjson. Default: the ending of the file name.")
  private @Nullable String format;

  @Override
  public Integer call() throws CommandFailed {
    CommandLine line = spec.commandLine();
    return new FileUpload(gateway, line.getOut(), line.getErr())
        .send(MigrateTableCommand.path(spec, id, "/import"), file, format);
  }
}
