package dev.coatcheck.app.client;

import dev.coatcheck.bulk.rows.RowFormat;
import dev.coatcheck.core.file.FileWords;
import dev.coatcheck.core.name.WireNamed;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import me.tongfei.progressbar.ProgressBar;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Sends a file of rows to an operation of the gateway, in parts, and prints the tally. A mixin with
 * the parameter {@code FILE} and the option {@code --format}.
 */
@Command
public final class ClientImport {
  private static final long BYTES_A_STEP = 1024;
  private static final long UNKNOWN = -1;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Parameters(paramLabel = "FILE", description = "The file to import, or - for standard input.")
  private Path file;

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      description = "csv or ndjson. Default: the ending of the file name.")
  private @Nullable String format;

  /**
   * Sends the whole file, or the rest after an interrupted upload.
   *
   * @param path of the operation that takes the file
   * @return the exit status: 0, or 1 if rows were refused
   */
  public int send(GatewayCalls gateway, Output output, String path) throws CommandFailed {
    boolean isInput = file.toString().equals("-");
    if (!isInput && !Files.isRegularFile(file)) {
      throw new Misused(
          Files.exists(file)
              ? file + " is no regular file. Send it by standard input, with -."
              : "there is no file " + file + ".");
    }
    RowFormat rows = rowFormat();
    try (PartSender source =
            isInput
                ? PartSender.ofStandardInput(rows, gateway, path)
                : PartSender.open(file, rows, gateway, path);
        ProgressBar bar =
            ProgressBars.open(
                "importing",
                " KiB",
                isInput ? UNKNOWN : Math.max(1, Files.size(file) / BYTES_A_STEP))) {
      bar.stepTo(source.progress().offset() / BYTES_A_STEP);
      while (source.sendPart()) {
        bar.stepTo(source.progress().offset() / BYTES_A_STEP);
      }
      bar.stepTo(Math.max(bar.getMax(), bar.getCurrent()));
      return report(source, output);
    } catch (FileSystemException unusable) {
      throw new CommandFailed(
          "can't read or write " + unusable.getFile() + ": " + FileWords.why(unusable));
    } catch (IOException broken) {
      throw new CommandFailed("can't read " + file + ": " + broken.getMessage());
    }
  }

  private int report(PartSender source, Output output) throws CommandFailed {
    ImportProgress done = source.progress();
    long rows = done.created() + done.existing() + done.refused();
    output.print(
        Map.of(
            "rows", rows,
            "created", done.created(),
            "existing", done.existing(),
            "refused", done.refused()),
        "%d rows: %d created, %d existing, %d refused."
            .formatted(rows, done.created(), done.existing(), done.refused()));
    if (done.refused() == 0) {
      return 0;
    }
    command
        .commandLine()
        .getErr()
        .printf(
            "%s: the refused rows are in %s, the reasons in %s.%n",
            command.commandLine().getCommandSpec().qualifiedName(),
            source.rejected(),
            source.reasons());
    return 1;
  }

  private RowFormat rowFormat() throws Misused {
    String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
    String wanted =
        format != null
            ? format
            : name.substring(name.lastIndexOf('.') + 1).replace("jsonl", "ndjson");
    return WireNamed.find(RowFormat.class, wanted)
        .orElseThrow(() -> new Misused("add --format csv or --format ndjson."));
  }
}
