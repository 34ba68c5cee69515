package dev.coatcheck.app.cli;

import dev.coatcheck.bulk.rows.RowFormat;
import java.io.Console;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code coatcheck ids import}: a file of any length, in parts, from where it was stopped. */
@Command(
    name = "import",
    description = {
      "Imports a file with the columns type, key, legacy_id, created_at, public_id.",
      "Stopped or broken off, the same command again goes on. Bad rows are set aside beside the"
          + " file."
    },
    mixinStandardHelpOptions = true)
final class ImportVerb implements Callable<Integer> {
  private static final long BYTES_A_STEP = 1024;

  @Mixin private GatewayCalls gateway = new GatewayCalls();
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "FILE", description = "The file.")
  private Path file;

  @Option(names = "--format", description = "csv or ndjson. Default: by the file's name.")
  private @Nullable String format;

  @Override
  public Integer call() throws CommandFailed {
    return send(spec, gateway, "/v1/imports", file, format);
  }

  /**
   * Sends a file to an operation that takes one, in parts, and says what became of it.
   *
   * @param format of the file; null: by its name
   */
  static int send(
      CommandSpec spec, GatewayCalls gateway, String path, Path file, @Nullable String format)
      throws CommandFailed {
    if (!Files.isRegularFile(file)) {
      throw new CommandFailed("there is no file " + file + ".");
    }
    try (ImportFile source = ImportFile.open(file, format(spec, file, format), gateway, path);
        ProgressBar bar = bar(file)) {
      bar.stepTo(source.progress().offset() / BYTES_A_STEP);
      while (source.sendPart()) {
        bar.stepTo(source.progress().offset() / BYTES_A_STEP);
      }
      bar.stepTo(bar.getMax());
      return report(spec, source);
    } catch (IOException broken) {
      throw new CommandFailed("the file can't be read or written: " + broken.getMessage());
    }
  }

  private static int report(CommandSpec spec, ImportFile source) {
    ImportProgress done = source.progress();
    spec.commandLine()
        .getOut()
        .printf(
            "%d rows: %d created, %d existing, %d refused.%n",
            done.created() + done.existing() + done.refused(),
            done.created(),
            done.existing(),
            done.refused());
    if (done.refused() == 0) {
      return 0;
    }
    spec.commandLine()
        .getErr()
        .println(
            "coatcheck: the refused rows are in "
                + source.rejected()
                + ", the reasons in "
                + source.reasons()
                + ".");
    return 1;
  }

  private static RowFormat format(CommandSpec spec, Path file, @Nullable String format) {
    String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
    String wanted =
        format != null
            ? format
            : name.substring(name.lastIndexOf('.') + 1).replace("jsonl", "ndjson");
    return RowFormat.named(wanted)
        .orElseThrow(
            () ->
                new ParameterException(spec.commandLine(), "Say --format csv or --format ndjson."));
  }

  /** Draws nothing unless somebody watches. Which Javas answer null for that has changed twice. */
  @SuppressWarnings("SystemConsoleNull")
  private static ProgressBar bar(Path file) throws IOException {
    Console console = System.console();
    boolean watched = console != null && console.isTerminal();
    return new ProgressBarBuilder()
        .setTaskName("importing")
        .setUnit(" KiB", 1)
        .setInitialMax(Math.max(1, Files.size(file) / BYTES_A_STEP))
        .setStyle(ProgressBarStyle.ASCII)
        .setConsumer(watched ? null : new Unwatched())
        .build();
  }

  /** Draws nothing. */
  static final class Unwatched implements me.tongfei.progressbar.ProgressBarConsumer {
    @Override
    public int getMaxRenderedLength() {
      return 0;
    }

    @Override
    public void accept(String line) {}

    @Override
    public void close() {}
  }
}
