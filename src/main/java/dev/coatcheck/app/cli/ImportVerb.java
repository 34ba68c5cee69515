package dev.coatcheck.app.cli;

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

/** {@code coatcheck ids import}: a file of any length, in parts, from where it was stopped. */
@Command(
    name = "import",
    description = {
      "Imports a file with the columns type, key, legacy_id, created_at, public_id.",
      "After an interruption, the same command continues. Refused rows are written to a file"
          + " beside FILE."
    },
    mixinStandardHelpOptions = true)
final class ImportVerb implements Callable<Integer> {
  @Mixin private GatewayCalls gateway = new GatewayCalls();
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "FILE", description = "The file to import.")
  private Path file;

  @Option(names = "--format", description = "csv or ndjson. Default: the ending of the file name.")
  private @Nullable String format;

  @Override
  public Integer call() throws CommandFailed {
    CommandLine line = spec.commandLine();
    return new FileUpload(gateway, line.getOut(), line.getErr()).send("/v1/imports", file, format);
  }
}
