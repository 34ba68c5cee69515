package dev.coatcheck.app.cli;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.Output;
import dev.coatcheck.app.client.ReaderGone;
import dev.coatcheck.app.client.WholeFile;
import dev.coatcheck.core.file.FileWords;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code coatcheck ids export}: all mappings of a type, into a file or to standard output. */
@Command(
    name = "export",
    description = {
      "Writes all mappings of a type, in the order of keys.",
      "--json is the same as --format ndjson."
    },
    footer = "  coatcheck ids export charge --output charges.csv")
final class ExportVerb implements Callable<Integer> {
  private static final int BUFFER_CHARACTERS = 16 * 1024;

  @Mixin private GatewayCalls gateway = new GatewayCalls();
  @Mixin private Output output = new Output();
  @Spec private CommandSpec spec;

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

  @Option(
      names = "--output",
      paramLabel = "FILE",
      description =
          "File to write, which appears when it is complete. Default, and -: standard output.")
  private @Nullable Path file;

  @Override
  public Integer call() throws CommandFailed {
    String wanted = output.isJson() ? "ndjson" : format;
    String path = GatewayCalls.path("/v1/exports", "type", type, "format", wanted);
    try (InputStream body = gateway.download(path + (includeEnded ? "&include_ended=true" : ""))) {
      write(body, file, spec.commandLine().getOut());
      return 0;
    } catch (IOException broken) {
      throw failed(file, broken);
    }
  }

  static CommandFailed failed(@Nullable Path file, IOException broken) {
    return new CommandFailed(
        file != null && broken instanceof FileSystemException
            ? "can't write " + file + ": " + FileWords.why(broken)
            : "the export broke off and is not complete: " + broken.getMessage());
  }

  /** Writes an export to a file, which appears when it is complete, or else prints it. */
  static void write(InputStream body, @Nullable Path file, PrintWriter out)
      throws IOException, ReaderGone {
    if (file == null || file.toString().equals("-")) {
      print(body, out);
    } else {
      WholeFile.write(file, body);
    }
  }

  private static void print(InputStream body, PrintWriter out) throws IOException, ReaderGone {
    Reader rows = new InputStreamReader(body, StandardCharsets.UTF_8);
    char[] some = new char[BUFFER_CHARACTERS];
    for (int count; (count = rows.read(some)) >= 0; ) {
      out.write(some, 0, count);
      Output.requireReader(out);
    }
  }
}
